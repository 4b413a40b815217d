/// What places in a text are counted in.
public enum TextUnit: CaseIterable, Sendable {
  /// Bytes of UTF-8, the unit of all offsets.
  case utf8
  case utf16
  /// Unicode scalars.
  case utf32
  /// Lines, from 0, separated by "\n" and by nothing else. A line's place is its beginning; a place's line is the one that
  /// holds it.
  case line
}

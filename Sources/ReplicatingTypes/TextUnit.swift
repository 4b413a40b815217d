// Library product only: the programs of this package do not use this file.

/// The units in which places in a text are counted.
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

// The one place that composes characters. The standard library can, but only for those who ask for its interface for Unicode; where the
// system comes with a standard library that doesn't offer that, Foundation does it.

#if canImport(Darwin)
  internal import Foundation

  extension String {
    /// The canonically equivalent text that is composed (NFC).
    var composed: String { precomposedStringWithCanonicalMapping }
  }
#else
  @_spi(_Unicode) internal import Swift

  extension String {
    /// The canonically equivalent text that is composed (NFC). O(n).
    var composed: String {
      if utf8.allSatisfy({ $0 < 0x80 }) { return self }
      var view = UnicodeScalarView()
      for scalar in _nfc { view.append(scalar) }
      return String(view)
    }
  }
#endif

extension String {
  /// The bytes of the text as a file system compares names that does not tell case apart, or composed characters from decomposed ones. O(n).
  func nameBytes(tellingCase tellsCase: Bool, tellingForm tellsForm: Bool) -> [UInt8] {
    if tellsCase { return Array((tellsForm ? self : composed).utf8) }
    if tellsForm { return Array(lowercased().uppercased().lowercased().utf8) }
    return Array(foldedName.utf8)
  }

  /// The text composed and without case, as the file systems that don't tell case apart compare names, or further: of each scalar the lower case
  /// of the upper case of the lower case. O(n).
  var foldedName: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
    return composed.lowercased().uppercased().lowercased().composed
  }
}

// Library product only: the programs of this package do not use this file.

extension Identifier {
  /// A new identity: 128 bits of a generator, which has to be a good one, as `SystemRandomNumberGenerator` is. Two replicas with one identity destroy each
  /// other's changes.
  ///
  ///     var generator = SystemRandomNumberGenerator()
  ///     var replica = Replica(id: .random(using: &generator))
  public static func random(using generator: inout some RandomNumberGenerator) -> Identifier {
    Identifier(high: generator.next(), low: generator.next())
  }
}

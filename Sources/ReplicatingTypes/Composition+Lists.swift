// Library product only: the programs of this package do not use this file.
//
// Lists of one part to twelve by their key paths. A list has a type for each number of parts, and so an initializer.

extension PartsOf {
  /// This list with a part before it.
  public typealias Preceded<Part: Replicable & BinaryCodable & Sendable> = Composition<
    Whole, Part, Self
  > where Part.Changes: BinaryCodable & Sendable
}

extension Composition {
  /// The place of a part.
  public typealias Path<Value> = WritableKeyPath<Whole, Value>

  /// One part.
  @inlinable
  @inline(__always)
  public init(_ a: Path<Part>) where Rest == NoParts<Whole> {
    self.init(a, rest: NoParts())
  }

  /// Two parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B>(_ a: Path<Part>, _ b: Path<B>) where Rest == NoParts<Whole>.Preceded<B> {
    self.init(a, rest: Rest(b))
  }

  /// Three parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C>(_ a: Path<Part>, _ b: Path<B>, _ c: Path<C>)
  where Rest == NoParts<Whole>.Preceded<C>.Preceded<B> {
    self.init(a, rest: Rest(b, c))
  }

  /// Four parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D>(_ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>)
  where Rest == NoParts<Whole>.Preceded<D>.Preceded<C>.Preceded<B> {
    self.init(a, rest: Rest(b, c, d))
  }

  /// Five parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E>(_ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>)
  where Rest == NoParts<Whole>.Preceded<E>.Preceded<D>.Preceded<C>.Preceded<B> {
    self.init(a, rest: Rest(b, c, d, e))
  }

  /// Six parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>
  ) where Rest == NoParts<Whole>.Preceded<F>.Preceded<E>.Preceded<D>.Preceded<C>.Preceded<B> {
    self.init(a, rest: Rest(b, c, d, e, f))
  }

  /// Seven parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F, G>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>,
    _ g: Path<G>
  )
  where
    Rest == NoParts<Whole>.Preceded<G>.Preceded<F>.Preceded<E>.Preceded<D>.Preceded<C>.Preceded<B>
  {
    self.init(a, rest: Rest(b, c, d, e, f, g))
  }

  /// Eight parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F, G, H>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>,
    _ g: Path<G>, _ h: Path<H>
  )
  where
    Rest == NoParts<Whole>.Preceded<H>.Preceded<G>.Preceded<F>.Preceded<E>.Preceded<D>.Preceded<C>
      .Preceded<B>
  {
    self.init(a, rest: Rest(b, c, d, e, f, g, h))
  }

  /// Nine parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F, G, H, I>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>,
    _ g: Path<G>, _ h: Path<H>, _ i: Path<I>
  )
  where
    Rest == NoParts<Whole>.Preceded<I>.Preceded<H>.Preceded<G>.Preceded<F>.Preceded<E>.Preceded<D>
      .Preceded<C>.Preceded<B>
  {
    self.init(a, rest: Rest(b, c, d, e, f, g, h, i))
  }

  /// Ten parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F, G, H, I, J>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>,
    _ g: Path<G>, _ h: Path<H>, _ i: Path<I>, _ j: Path<J>
  )
  where
    Rest == NoParts<Whole>.Preceded<J>.Preceded<I>.Preceded<H>.Preceded<G>.Preceded<F>.Preceded<E>
      .Preceded<D>.Preceded<C>.Preceded<B>
  {
    self.init(a, rest: Rest(b, c, d, e, f, g, h, i, j))
  }

  /// Eleven parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F, G, H, I, J, K>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>,
    _ g: Path<G>, _ h: Path<H>, _ i: Path<I>, _ j: Path<J>, _ k: Path<K>
  )
  where
    Rest == NoParts<Whole>.Preceded<K>.Preceded<J>.Preceded<I>.Preceded<H>.Preceded<G>.Preceded<F>
      .Preceded<E>.Preceded<D>.Preceded<C>.Preceded<B>
  {
    self.init(a, rest: Rest(b, c, d, e, f, g, h, i, j, k))
  }

  /// Twelve parts, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init<B, C, D, E, F, G, H, I, J, K, L>(
    _ a: Path<Part>, _ b: Path<B>, _ c: Path<C>, _ d: Path<D>, _ e: Path<E>, _ f: Path<F>,
    _ g: Path<G>, _ h: Path<H>, _ i: Path<I>, _ j: Path<J>, _ k: Path<K>, _ l: Path<L>
  )
  where
    Rest == NoParts<Whole>.Preceded<L>.Preceded<K>.Preceded<J>.Preceded<I>.Preceded<H>.Preceded<G>
      .Preceded<F>.Preceded<E>.Preceded<D>.Preceded<C>.Preceded<B>
  {
    self.init(a, rest: Rest(b, c, d, e, f, g, h, i, j, k, l))
  }
}

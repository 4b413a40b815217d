import ReplicatingTypes

struct Item: Composed {
  var title = ReplicatingRegister("")
  var isDone = ReplicatingRegister(false)

  static var parts: some PartsOf<Self> { Composition(\Self.title, \.isDone) }
}

struct List: Composed {
  var order = ReplicatingOrderedSet<Identifier>()
  var items = ReplicatingDictionary<Identifier, Item>()

  static var parts: some PartsOf<Self> { Composition(\Self.order, \.items) }

  mutating func add(_ title: String, at now: Int64, by replica: inout Replica) {
    let id = Identifier.random()
    order.insert(id, at: order.count, by: &replica)
    items.update(id, default: Item(), by: &replica) { item, replica in
      item.title.assign(title, at: now, by: &replica)
    }
  }

  mutating func setDone(_ index: Int, at now: Int64, by replica: inout Replica) {
    items.update(order.values[index], default: Item(), by: &replica) { item, replica in
      item.isDone.assign(true, at: now, by: &replica)
    }
  }

  var lines: [String] {
    order.values.compactMap { items[$0] }.map {
      "[\($0.isDone.value ? "x" : " ")] \($0.title.value)"
    }
  }
}

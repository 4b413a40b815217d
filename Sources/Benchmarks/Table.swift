import JSONRPC

/// One line of the table.
struct Row {
  /// The unit in which a value is printed.
  enum Unit: String {
    case milliseconds = "ms"
    case microseconds = "µs"
    case bytes = "B"
  }

  /// The value that is aimed at.
  enum Goal {
    /// So many times the floor beside it.
    case floor(Double)
    /// So many units, u.
    case units(Double)
    case bytes(Double)
    /// The median, in nanoseconds.
    case median(Double)
    /// The median, so many nanoseconds above that of the floor beside it.
    case above(Double)
  }

  /// The first column, by which rows are chosen on the command line.
  var group: String
  /// The second column.
  var name: String
  var unit = Unit.milliseconds
  /// The least of all runs, and their median; nanoseconds or bytes.
  var value: Double
  var median: Double?
  /// The least time of the floor in this run, in nanoseconds, and the median; nil if there is none.
  var floor: Double?
  var medianOfFloor: Double?
  var goal: Goal?

  /// A row of times.
  init(
    _ group: String, _ name: String, _ timing: Timing, _ unit: Unit = .milliseconds,
    floor: Timing? = nil, goal: Goal? = nil
  ) {
    self.group = group
    self.name = name
    self.unit = unit
    value = timing.minimum
    median = timing.median
    self.floor = floor?.minimum
    medianOfFloor = floor?.median
    self.goal = goal
  }

  /// A row of bytes.
  init(_ group: String, _ name: String, bytes: Int, goal: Goal? = nil) {
    self.group = group
    self.name = name
    unit = .bytes
    value = Double(bytes)
    self.goal = goal
  }

  /// The ratio to the floor; `nil` for bytes.
  func ratio(_ u: Double) -> Double? {
    if unit == .bytes { return nil }
    return value / floor(u)
  }

  /// The floor beside it; u for what a plain buffer can't do.
  func floor(_ u: Double) -> Double {
    if case .units = goal { return u }
    return floor ?? u
  }

  /// True if the goal is met; nil if there is none.
  func isMet(_ u: Double) -> Bool? {
    switch goal {
    case .floor(let most): value / floor(u) <= most
    case .units(let most): value / u <= most
    case .bytes(let most): value <= most
    case .median(let most): (median ?? value) <= most
    case .above(let most): (median ?? value) - (medianOfFloor ?? 0) <= most
    case nil: nil
    }
  }
}

/// All rows, and the unit that goals are counted in: the floor's time for automerge-paper, or for the generated trace if
/// that one isn't there.
struct Report {
  /// The unit of goals.
  var u: Timing
  /// The name of the trace that the unit is of.
  var unitTrace: String
  /// True if nothing is printed before `json`.
  var isJSON: Bool
  private var rows: [Row] = []

  /// Begins a report: prints the head of the table.
  init(u: Timing, unitTrace: String, isJSON: Bool) {
    self.u = u
    self.unitTrace = unitTrace
    self.isJSON = isJSON
    if isJSON { return }
    print("u = \(number(u.minimum / 1e6)) ms: the gap buffer, \(unitTrace), in this run")
    print("ours and the floor: the least of all runs; in brackets the median\n")
    print(line(["", "", "ours", "(median)", "floor", "ratio", "goal", "met"]))
    print(line(["---", "---", "--:", "--:", "--:", "--:", "--:", "---"]))
  }

  /// True if there are no rows.
  var isEmpty: Bool { rows.isEmpty }

  /// Adds a row and prints it.
  mutating func add(_ row: Row) {
    rows.append(row)
    if isJSON { return }
    let ratio = row.ratio(u.minimum)
    var goal = ""
    let suffix = row.floor(u.minimum) == u.minimum ? " u" : "x"
    switch row.goal {
    case .floor(let most): goal = "≤ \(number(most))x"
    case .units(let most): goal = "≤ \(number(most)) u"
    case .bytes(let most): goal = "≤ \(number(most)) B"
    case .median(let most): goal = "≤ (\(amount(most, row.unit)))"
    case .above(let most): goal = "≤ +\(amount(most, row.unit))"
    case nil: break
    }
    print(
      line([
        row.group, row.name, amount(row.value, row.unit),
        row.median.map { "(\(amount($0, row.unit)))" } ?? "",
        row.unit == .bytes ? "" : amount(row.floor(u.minimum), row.unit),
        ratio.map { number($0) + suffix } ?? "",
        goal, row.isMet(u.minimum).map { $0 ? "yes" : "no" } ?? "",
      ]))
  }

  /// Everything as one JSON object: times in nanoseconds.
  func json(date: String) -> String {
    var writer = JSONWriter()
    func field(_ name: String, _ value: Double?) {
      guard let value else { return }
      writer.key(name)
      writer.raw("\(value)".utf8)
    }
    writer.beginObject()
    writer.key("date")
    writer.string(date)
    writer.key("unitTrace")
    writer.string(unitTrace)
    field("u", u.minimum)
    writer.key("rows")
    writer.beginArray()
    for row in rows {
      writer.beginObject()
      writer.key("group")
      writer.string(row.group)
      writer.key("name")
      writer.string(row.name)
      writer.key("unit")
      writer.string(row.unit == .bytes ? "B" : "ns")
      field("value", row.value)
      field("median", row.median)
      if row.unit != .bytes { field("floor", row.floor(u.minimum)) }
      field("ratio", row.ratio(u.minimum))
      switch row.goal {
      case .floor(let most): field("goalTimesFloor", most)
      case .units(let most): field("goalUnits", most)
      case .bytes(let most): field("goalBytes", most)
      case .median(let most): field("goalMedian", most)
      case .above(let most): field("goalAboveFloor", most)
      case nil: break
      }
      if let isMet = row.isMet(u.minimum) {
        writer.key("isMet")
        writer.boolean(isMet)
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

private func line(_ cells: [String]) -> String {
  let widths = [15, 46, 10, 12, 10, 10, 11, 3]
  var line = "|"
  for (index, (cell, width)) in zip(cells, widths).enumerated() {
    let space = String(repeating: " ", count: max(0, width - cell.count))
    line += index < 2 || index == 7 ? " \(cell)\(space) |" : " \(space)\(cell) |"
  }
  return line
}

private func amount(_ value: Double, _ unit: Row.Unit) -> String {
  switch unit {
  case .milliseconds: "\(number(value / 1e6)) ms"
  case .microseconds: "\(number(value / 1e3)) µs"
  case .bytes: "\(Int(value)) B"
  }
}

/// Three digits that count, or all before the point.
private func number(_ value: Double) -> String {
  if value == 0 { return "0" }
  var scale = 1.0
  while abs(value) * scale < 100, scale < 1e8 { scale *= 10 }
  let rounded = (value * scale).rounded() / scale
  if rounded == rounded.rounded() && abs(rounded) < 1e15 { return "\(Int(rounded))" }
  var digits = "\(rounded)"
  if digits.contains("e") {
    // Small numbers, without an exponent.
    let places = Int("\(scale)".count - 3)
    digits = "\(Int((value * scale).rounded()))"
    digits = "0." + String(repeating: "0", count: max(0, places - digits.count)) + digits
    while digits.last == "0" { digits.removeLast() }
  }
  return digits
}

/// Prints the traces.
func describe(_ flat: [Trace], _ concurrent: [ConcurrentTrace]) {
  for trace in flat {
    print(
      "\(trace.name): \(trace.edits.count) edits, \(trace.inserted.count) bytes inserted,",
      "\(trace.end.count) at the end")
  }
  for trace in concurrent {
    print(
      "\(trace.name): \(trace.messages.count) messages by several authors,",
      "\(trace.end.count) bytes at the end")
  }
}

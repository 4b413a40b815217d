import Foundation
import ReplicatingTypes
import ReplicatingTypesFoundation

struct Note: Identifiable, Composed, Codable {
  enum Priority: Int, Codable, BinaryCodable {
    case low, normal, high
  }

  enum Tag: String, Codable, CaseIterable, BinaryCodable {
    case home, work, travel, leisure
  }

  var id: UUID = .init()
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var tags = ReplicatingSet<Tag>()
  var priority = ReplicatingRegister(Priority.normal)
  var creationDate: Date = .init()

  static var parts: some PartsOf<Self> {
    Composition(\Self.id, \.title, \.text, \.tags, \.priority, \.creationDate)
  }
}

import Tactus
import Wire

/// Adopted by a system whose answers to commands contain more than the word of its state.
public protocol AnswersInFull: Sees {
  /// The fields of the document that an answer contains. The answer to a command for an item contains only that item,
  /// under the item's name.
  @DeclarationBuilder<Field<Seen>> static var answerFields: [Field<Seen>] { get }
}

extension SeenDocument {
  /// The document that answers to commands contain, or `nil` if the system does not adopt `AnswersInFull`.
  static var ofAnswers: SeenDocument? {
    (System.self as? any AnswersInFull.Type).map { Self.answers(of: $0) }
  }

  private static func answers<Answering: AnswersInFull>(of _: Answering.Type) -> SeenDocument {
    Self.of(Answering.self, Answering.answerFields)
  }

  /// Returns the members of an answer.
  ///
  /// - Parameter item: the item that the command was for, or `nil` if the command was for the system.
  func members(
    _ published: Published<System.State>, _ look: Look<System>, of item: (each: String, index: Int)?
  ) -> [JSONValue.Member] {
    let values = values(of: published, look)
    guard let item else { return shapes.members(values) }
    for (shape, value) in zip(shapes, values) {
      guard case .items(let items) = shape.content, items.each == item.each, case .items(let list) = value,
        list.indices.contains(item.index)
      else { continue }
      return [.init(name: item.each, value: .object(items.fields.members(list[item.index])))]
    }
    return []
  }
}

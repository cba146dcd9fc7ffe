import CServiceDocuments

/// The parts of one system in the page and the API's description, built into the program from the files of
/// `Sources/Systems/NAME/Documents`.
public struct SystemDocuments: @unchecked Sendable {
  // The files are constants of the program.
  private let documents: system_documents
  /// The system's name, which is also the name of its script in the page: `pump.js`.
  public let name: String

  /// The part of `openapi.json` that is derived from the system's declaration: a JSON object into which `api` is
  /// written.
  public var madeAPI: [UInt8] = Array("{}".utf8)

  /// Makes the documents of one system.
  ///
  /// - Parameters:
  ///   - name: the system's name.
  ///   - documents: the files that the system's `documents.c` has embedded.
  public init(_ name: String, _ documents: system_documents) { (self.name, self.documents) = (name, documents) }

  /// The card of the page, one `<section>`.
  public var card: [UInt8] { Self.bytes(documents.card) }
  /// The script that registers the card by `addOwnCard` of `console.js`.
  public var script: [UInt8] { Self.bytes(documents.script) }
  /// The German translations of the texts of the script and the card: a part of `/german.js`, which only a page in
  /// German fetches.
  public var german: [UInt8] { Self.bytes(documents.german) }
  /// CSS rules for elements that only this card has.
  public var style: [UInt8] { Self.bytes(documents.style) }
  /// The part of the API's description that the declaration lacks: a JSON object that is written over `madeAPI`. The
  /// result is merged into `openapi.json`: members are added to members, lists are appended to lists.
  public var api: [UInt8] { Self.bytes(documents.api) }

  /// All files with their names.
  public var files: [(name: String, bytes: [UInt8])] {
    [documents.card, documents.script, documents.german, documents.style, documents.api].map { file in
      (String(cString: file.name), Self.bytes(file))
    }
  }

  private static func bytes(_ file: service_document) -> [UInt8] {
    Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }
}

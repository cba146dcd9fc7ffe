import CServiceDocuments

/// What one system adds to the page, to the API's description and to the dashboard, built into the program: the files of
/// `Sources/Systems/NAME/Documents`.
public struct SystemDocuments: @unchecked Sendable {
  // The files are constants of the program.
  private let documents: system_documents
  /// Of its script: `/pump.js`.
  public let name: String

  /// - Parameters:
  ///   - name: the system's name; its script is served as `/NAME.js`.
  ///   - documents: the files that the system's `documents.c` has embedded.
  public init(_ name: String, _ documents: system_documents) { (self.name, self.documents) = (name, documents) }

  /// One `<section>` of the page.
  public var card: [UInt8] { Self.bytes(documents.card) }
  /// Registers the card: `addOwnCard` of `console.js`.
  public var script: [UInt8] { Self.bytes(documents.script) }
  /// Rules for what only this card has.
  public var style: [UInt8] { Self.bytes(documents.style) }
  /// A JSON object that is merged into `openapi.json`: its members into its members, its lists behind its lists.
  public var api: [UInt8] { Self.bytes(documents.api) }
  /// Its row of the Grafana dashboard: `{"annotations": […], "panels": […]}`, of which the first panel is the row's title.
  public var dashboard: [UInt8] { Self.bytes(documents.dashboard) }

  /// Every file, by its name.
  public var files: [(name: String, bytes: [UInt8])] {
    [documents.card, documents.script, documents.style, documents.api, documents.dashboard].map { file in
      (String(cString: file.name), Self.bytes(file))
    }
  }

  private static func bytes(_ file: service_document) -> [UInt8] {
    Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }
}

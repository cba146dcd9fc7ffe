/// The files by which the page shows the state of a declared system that has written its own card.
public struct OwnCard: Sendable {
  /// The name of the system, or the common name of several systems of one kind.
  public let kind: String
  let html, script, style: [UInt8]

  /// Makes a card from the contents of its files.
  ///
  /// - Parameters:
  ///   - kind: the name of the system; the script is served as `/KIND.card.js`.
  ///   - html: the HTML copied into each card of this kind.
  ///   - script: the script, which calls `ownCard(kind, show)`.
  ///   - style: CSS rules for elements that only this card has.
  public init(kind: String, html: [UInt8], script: [UInt8], style: [UInt8]) {
    (self.kind, self.html, self.script, self.style) = (kind, html, script, style)
  }

  /// The `template` element of this card in the page; the browser does not display it.
  var template: String { "<template id=\"card-\(kind)\">\(String(decoding: html, as: UTF8.self))</template>" }
}

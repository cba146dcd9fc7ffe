/// The files by which the page shows the state of a declared system that has written its own card.
public struct OwnCard: Sendable {
  /// Name of the system; of several what they have in common.
  public let kind: String
  let html, script, style: [UInt8]

  /// - Parameters:
  ///   - kind: the name of the system; its script is served as `/KIND.card.js`.
  ///   - html: copied into each card of that kind.
  ///   - script: calls `ownCard(kind, show)`.
  ///   - style: rules for what only this card has.
  public init(kind: String, html: [UInt8], script: [UInt8], style: [UInt8]) {
    (self.kind, self.html, self.script, self.style) = (kind, html, script, style)
  }

  /// What the page holds of it: a template, which is no part of what is shown.
  var template: String { "<template id=\"card-\(kind)\">\(String(decoding: html, as: UTF8.self))</template>" }
}

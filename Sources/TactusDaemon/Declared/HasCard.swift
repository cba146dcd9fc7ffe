import Service

/// A system that shows its state by a card of its own. Its frame is made as of every other: title, state, trouble, commands, e-stop and reset, settings
/// and faults; what stands beside the commands is the card's.
///
///     enum Kettle: DeviceSystem, HasCard {
///       static let card = Card(
///         html: PackageResources.card_html, script: PackageResources.card_js, style: PackageResources.card_css)
///     }
///
/// In the manifest of the package: `resources: [.embedInCode("Card")]`.
public protocol HasCard: DeviceSystem {
  /// One for all of several systems.
  static var card: Card { get }
}

/// The files of a card.
public struct Card: Sendable {
  let html: [UInt8]
  let script: [UInt8]
  let style: [UInt8]

  /// - Parameters:
  ///   - html: what is shown, without a script or a style in it; no `id`, since there may be several of a kind.
  ///   - script: calls `ownCard("kettle", show)` once. `show(root, event, system)` gets the element with the card's copy of `html`, each state of
  ///     the system with its fields as members, and the system's item of `GET /api/systems`.
  ///   - style: rules for what only this card has: `.kettle-chart { … }`.
  public init(html: [UInt8], script: [UInt8], style: [UInt8] = []) {
    (self.html, self.script, self.style) = (html, script, style)
  }
}

extension OwnCard {
  init(kind: String, _ card: Card) { self.init(kind: kind, html: card.html, script: card.script, style: card.style) }
}

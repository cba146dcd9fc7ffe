import Service

/// Adopted by a system that shows its state on a hand-written card. The page makes the frame as for every system:
/// title, state, trouble, commands, e-stop and reset, settings and faults. The card fills the area beside the commands.
///
/// ```swift
/// enum Kettle: DeviceSystem, HasCard {
///   static let card = Card(
///     html: PackageResources.card_html, script: PackageResources.card_js, style: PackageResources.card_css)
/// }
/// ```
///
/// The package manifest needs `resources: [.embedInCode("Card")]`.
public protocol HasCard: DeviceSystem {
  /// The card, which all systems of this kind share.
  static var card: Card { get }
}

/// The files of a card.
public struct Card: Sendable {
  let html: [UInt8]
  let script: [UInt8]
  let style: [UInt8]

  /// Creates a card from the contents of its files.
  ///
  /// - Parameters:
  ///   - html: the elements of the card without scripts or styles, and without any `id`, since the page may show
  ///     several systems of a kind.
  ///   - script: a script that calls `ownCard("kettle", show)` once. `show(root, event, system)` receives the element
  ///     with the card's copy of `html`, each state of the system with its fields as members, and the system's item of
  ///     `GET /api/systems`.
  ///   - style: the rules for elements that only this card has, such as `.kettle-chart { … }`.
  public init(html: [UInt8], script: [UInt8], style: [UInt8] = []) {
    (self.html, self.script, self.style) = (html, script, style)
  }
}

extension OwnCard {
  init(kind: String, _ card: Card) { self.init(kind: kind, html: card.html, script: card.script, style: card.style) }
}

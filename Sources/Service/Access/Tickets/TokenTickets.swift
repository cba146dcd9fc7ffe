@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// Tickets, each of which is exchanged once, within five minutes, for a token that was just made. A ticket stands in the
/// address that a new client opens, where the token itself must not stand.
///
/// It may be used from any thread. The tokens are in memory until their ticket is exchanged or has expired, and never on the disk.
final class TokenTickets: Sendable {
  /// The time for which a ticket is valid.
  static let lifetimeSeconds: Int64 = 300
  /// The number of tickets that may be open. A further one ends the oldest.
  static let capacity = 16

  private struct Ticket {
    let hash: TokenHash
    let tokenID: String
    let token: String
    let ends: TickInstant
  }

  private let random: @Sendable (Int) -> [UInt8]
  private let open = Mutex<[Ticket]>([])

  init(random: @escaping @Sendable (Int) -> [UInt8] = TokenFile.randomBytes) { self.random = random }

  /// Returns a new ticket for a token: 22 characters of base64url, 128 random bits.
  ///
  /// - Parameters:
  ///   - token: the token's text.
  ///   - tokenID: the token's public identifier.
  func issue(for token: String, tokenID: String, at now: TickInstant) -> String {
    let text = Base64URL.encode(random(16))
    open.withLock { open in
      open.removeAll { $0.ends <= now }
      if open.count >= Self.capacity { open.removeFirst() }
      open.append(
        Ticket(hash: TokenHash(of: text), tokenID: tokenID, token: token, ends: now + .seconds(Self.lifetimeSeconds)))
    }
    return text
  }

  /// Returns the token of a ticket with its public identifier, and ends the ticket. Returns `nil` for a ticket that was
  /// never issued, has been exchanged, has expired or was ended.
  func exchange(_ text: String, at now: TickInstant) -> (tokenID: String, token: String)? {
    let presented = TokenHash(of: text)
    return open.withLock { open in
      open.removeAll { $0.ends <= now }
      guard let index = open.firstIndex(where: { $0.hash.isSame(as: presented) }) else { return nil }
      let ticket = open.remove(at: index)
      return (ticket.tokenID, ticket.token)
    }
  }

  /// Ends the ticket of a token that was revoked.
  func end(tokenID: String) { open.withLock { $0.removeAll { $0.tokenID == tokenID } } }
}

/// The rule for an address of the page that a client gives, to which something is appended: a ticket, or the view of a plant.
public enum PageAddress {
  /// Returns the rule for an address of the page in words, as a part of an error message.
  ///
  /// - Parameter greatestLength: the greatest length in bytes.
  public static func rule(atMost greatestLength: Int) -> String {
    "an http or https address of at most \(greatestLength) characters that ends in /"
  }

  /// Returns whether the text is an address that can stand in a QR code and in a document as it is: printable ASCII
  /// without quotation marks, brackets and the characters that begin a query or a fragment.
  public static func isOne(_ text: String, atMost greatestLength: Int) -> Bool {
    let scheme = ["http://", "https://"].first { text.hasPrefix($0) }
    guard let scheme, text.utf8.count <= greatestLength else { return false }
    let rest = text.utf8.dropFirst(scheme.utf8.count)
    return rest.count > 1 && rest.last == UInt8(ascii: "/")
      && rest.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"#?@\"<>\\^`{|}&'".utf8.contains($0) }
  }
}

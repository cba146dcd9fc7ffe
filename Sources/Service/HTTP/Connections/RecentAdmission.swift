import NIOCore
import NIOHTTP1

/// Remembers that the last request of a connection was admitted. A request with the same method, target and header
/// fields within `lifetime` is admitted without asking the access control: clients that poll send the same bytes every
/// time, and admission was a seventh of an answer's cost.
///
/// A token that is revoked or expires is therefore refused at most `lifetime` later. Refusals are never remembered.
struct RecentAdmission {
  static let lifetime = TimeAmount.milliseconds(100)

  private var head: HTTPRequestHead?
  private var until = NIODeadline.uptimeNanoseconds(0)

  /// Asks the access control, unless the same request was admitted recently.
  mutating func check(
    _ new: HTTPRequestHead, at now: NIODeadline, on channel: any Channel, with shared: ServiceChannel.Shared,
    peer: String,
    scope: Scope?
  ) throws(APIError) {
    guard !covers(new, at: now) else { return }
    let request = try new.request(isSecure: shared.isSecure)
    _ = try shared.places.admit(channel) { certificate throws(APIError) in
      try shared.admit(request, peer, certificate, scope)
    }
    head = new
    until = now + Self.lifetime
  }

  private func covers(_ new: HTTPRequestHead, at now: NIODeadline) -> Bool {
    guard now < until, let head else { return false }
    return head.method == new.method && head.uri == new.uri
      && head.headers.elementsEqual(new.headers) { $0.name == $1.name && $0.value == $1.value }
  }
}

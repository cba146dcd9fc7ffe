import Leg
import Service
import Synchronization
import Tactus

/// Which clients of the service speak to which legs: for telemetry, and for what a client that leaves lets go. Any thread.
final class LegLinks: Sendable {
  /// One client's link to one leg.
  private struct Link {
    /// Its frames had the leg's number before them.
    var isPrefixed: Bool
    /// Who it is: `phone@192.168.1.7`.
    let name: String
    /// Commands that the loop has not answered yet.
    var pending = 0
  }

  /// Who sent a leg's last command that fed it, of the clients of the service.
  struct Sender {
    let client: UInt32
    let at: TickInstant
  }

  private struct State {
    /// By client, then by leg.
    var links: [UInt32: [Int: Link]] = [:]
    var senders: [Int: Sender] = [:]
    /// By leg, of all clients that there have been.
    var traffic: [Int: LegLinkTraffic] = [:]
  }

  private let state = Mutex(State())

  /// A frame came. Whether it is the client's first one to this leg.
  func note(_ caller: Caller, leg: Int, isPrefixed: Bool) -> Bool {
    state.withLock { state in
      state.traffic[leg, default: .init()].received += 1
      let isNew = state.links[caller.client]?[leg] == nil
      let link = Link(isPrefixed: isPrefixed, name: "\(caller.logName), local client \(caller.client)")
      state.links[caller.client, default: [:]][leg, default: link].isPrefixed = isPrefixed
      return isNew
    }
  }

  /// It was no command.
  func countMalformed(leg: Int) { state.withLock { $0.traffic[leg, default: .init()].malformed += 1 } }

  /// A command of a link is on its way to the loop.
  func sent(_ client: UInt32, leg: Int) {
    state.withLock { $0.links[client]?[leg]?.pending += 1 }
  }

  /// The loop has answered it. `feeds`: it was accepted and fed the leg, which the client holds from now on; false: it let
  /// the leg go, or `nil` if neither.
  func answered(_ client: UInt32, leg: Int, feeds: Bool?, at: TickInstant) {
    state.withLock { state in
      guard state.links[client]?[leg] != nil else { return }
      state.links[client]?[leg]?.pending -= 1
      if let feeds { state.senders[leg] = feeds ? Sender(client: client, at: at) : nil }
    }
  }

  /// A request over HTTP was taken.
  func took(_ client: UInt32, leg: Int, feeds: Bool, at: TickInstant) {
    state.withLock { $0.senders[leg] = feeds ? Sender(client: client, at: at) : nil }
  }

  func sender(leg: Int) -> Sender? { state.withLock { $0.senders[leg] } }

  /// The client has gone. The legs that it holds, or may come to hold by what is still on its way.
  func leave(_ client: UInt32) -> [(leg: Int, heldSince: TickInstant?)] {
    state.withLock { state in
      guard let links = state.links.removeValue(forKey: client) else { return [] }
      return links.keys.sorted().compactMap { leg in
        let sender = state.senders[leg]
        if sender?.client == client { return (leg, sender?.at) }
        return links[leg]!.pending > 0 ? (leg, nil) : nil
      }
    }
  }

  /// Who gets the telemetry of which leg now: a frame each.
  func takeListeners() -> [(client: UInt32, leg: Int, isPrefixed: Bool)] {
    state.withLock { state in
      let listeners = state.links.flatMap { client, links in links.map { (client, $0.key, $0.value.isPrefixed) } }
      for (_, leg, _) in listeners { state.traffic[leg, default: .init()].sent += 1 }
      return listeners
    }
  }

  /// The service's clients as one way to a leg. More than three are counted, not named.
  func document(leg: Int) -> LegLinkDocument {
    state.withLock { state in
      let names = state.links.sorted { $0.key < $1.key }.compactMap { $0.value[leg]?.name }
      let peer = names.prefix(3).joined(separator: "; ") + (names.count > 3 ? "; \(names.count - 3) more" : "")
      return LegLinkDocument(
        LegLinkReport(.websocket, names.isEmpty ? .open : .connected, device: "/ws", peer: names.isEmpty ? nil : peer),
        state.traffic[leg] ?? .init())
    }
  }
}

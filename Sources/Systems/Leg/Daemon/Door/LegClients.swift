import Leg
import Service
import Synchronization
import TactusDaemon
import Wire

/// The service's clients that send to legs, with the traffic to and from them. Any thread may use this.
final class LegClients: Sendable {
  /// The link of one client to one leg.
  private struct Link {
    /// Whether the client's frames had the leg's number before them.
    var isPrefixed: Bool
    /// The client's name, such as `phone@192.168.1.7`.
    let name: String
  }

  private struct State {
    /// The links by client, then by leg.
    var links: [UInt32: [Int: Link]] = [:]
    /// The traffic by leg, of all clients since the start.
    var traffic: [Int: LegTraffic] = [:]
    /// The number of clamped pulses of each leg that telemetry frames have already reported.
    var told: [Int: Int64] = [:]
  }

  private let state = Mutex(State())

  /// Records that a frame came. Returns whether it was the client's first one to this leg.
  func note(_ caller: Caller, leg: Int, isPrefixed: Bool) -> Bool {
    state.withLock { state in
      state.traffic[leg, default: .init()].received += 1
      let isNew = state.links[caller.client]?[leg] == nil
      let link = Link(isPrefixed: isPrefixed, name: "\(caller.logName), local client \(caller.client)")
      state.links[caller.client, default: [:]][leg, default: link].isPrefixed = isPrefixed
      return isNew
    }
  }

  /// Records that a frame was malformed.
  func countMalformed(leg: Int) { state.withLock { $0.traffic[leg, default: .init()].malformed += 1 } }

  /// Removes a client that has disconnected.
  func leave(_ client: UInt32) { state.withLock { _ = $0.links.removeValue(forKey: client) } }

  /// Returns the newest telemetry of each leg, for every client that has sent to that leg.
  func frames(_ newest: LegSnapshot) -> [ClientFrame] {
    state.withLock { state in
      guard !state.links.isEmpty else { return [] }
      let frames = (0..<newest.count).map { index in
        var telemetry = newest[index].telemetry
        // The loop reports a clamp in one frame only, which this beat may have missed.
        if newest[index].clamped != state.told[index, default: 0], telemetry.error == .none {
          telemetry.error = .invalidCommand
        }
        state.told[index] = newest[index].clamped
        return telemetry.bytes
      }
      return state.links.flatMap { client, links in
        links.map { leg, link in
          state.traffic[leg, default: .init()].sent += 1
          let prefix = link.isPrefixed ? [0x80 | UInt8(clamping: leg)] : []
          return ClientFrame(to: client, type: "leg.\(leg)", prefix + frames[leg])
        }
      }
    }
  }

  /// Returns the link to a leg that all clients of the service form together. At most three clients are named, the others are counted.
  func way(to leg: Int) -> LegWay {
    state.withLock { state in
      let names = state.links.sorted { $0.key < $1.key }.compactMap { $0.value[leg]?.name }
      let peer = names.prefix(3).joined(separator: "; ") + (names.count > 3 ? "; \(names.count - 3) more" : "")
      let report = LinkReport(
        names.isEmpty ? .open : .connected, device: "/ws", peer: names.isEmpty ? nil : peer)
      return LegWay(kind: .websocket, report: report, traffic: state.traffic[leg] ?? .init())
    }
  }
}

extension LegTelemetry {
  fileprivate var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.encodedLength) { buffer, count in
      count = encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}

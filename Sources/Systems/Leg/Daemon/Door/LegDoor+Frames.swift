import Leg
import Service
import Tactus
import Wire

/// LegCtrl over a WebSocket: the client is a link, with its own end.
extension LegDoor {
  /// A LegCtrl frame, with the leg's number before it or not. As in the protocol, a pulse for a leg that is not armed is
  /// ignored without a word; other refusals are told. Who has sent a frame gets the leg's telemetry, ten times a second.
  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool {
    guard let address = LegFrameAddress(frame) else { return false }
    let (leg, client) = (address.leg, caller.client)
    guard legs.indices.contains(leg) else {
      answer(.refused(noSuchLeg("\(leg)")))
      return true
    }
    let isNew = links.note(caller, leg: leg, isPrefixed: address.isPrefixed)
    // A new connection leads out of a lost one, as in the protocol; it takes nothing from who is driving.
    if isNew, case .fault(.linkLost, _) = newest[leg].state { mailbox.send(.linked, to: .leg(leg)) { _ in } }
    let command: LegCommand
    do {
      command = try address.payload.withUnsafeBytes { bytes throws(LegFrameError) in try LegCommand.decode(bytes) }
    } catch {
      links.countMalformed(leg: leg)
      mailbox.send(.invalidFrame, to: .leg(leg)) { _ in }
      answer(.refused(APIError(.badRequest, "BAD_FRAME", "not a LegCtrl frame: \(error)")))
      return true
    }
    links.sent(client, leg: leg)
    mailbox.send(.command(command), to: .leg(leg)) { [self] result in
      switch result {
      case .failure(let error):
        links.answered(client, leg: leg, feeds: nil, at: .zero)
        answer(.refused(error))
      case .success(let taken):
        links.answered(client, leg: leg, feeds: taken.feeds(command), at: taken.at)
        if case .ignored(let reason) = taken.verdict, !reason.isSilent(for: command) {
          answer(.refused(reason.error(leg: leg, in: newest[leg].state)))
        }
      }
    }
    return true
  }

  /// A lost link is a fault at once, of every leg that the client held: whose last command came from it.
  func clientLeft(_ caller: Caller) {
    let held = links.leave(caller.client)
    guard !held.isEmpty else { return }
    let newest = newest
    for (leg, since) in held {
      // Somebody has taken over by datagrams, or the leg has been let go already.
      if let since, let heard = newest[leg].heardAt, since < heard { continue }
      mailbox.send(.unlinked, to: .leg(leg)) { _ in }
    }
  }
}

extension LegAnswer {
  /// Whether the leg is its sender's afterwards; false: nobody's, or `nil` if that has not changed.
  fileprivate func feeds(_ command: LegCommand) -> Bool? {
    guard case .accepted = verdict else { return nil }
    return command != .disarm
  }
}

extension LegIgnoreReason {
  /// Whether the protocol says nothing about it.
  fileprivate func isSilent(for command: LegCommand) -> Bool {
    guard case .setServo = command else { return false }
    return switch self {
    case .notArmed, .inFault, .emergencyStopped, .shutDown: true
    default: false
    }
  }
}

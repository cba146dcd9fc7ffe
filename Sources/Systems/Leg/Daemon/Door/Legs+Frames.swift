import Leg
import Service
import Tactus
import TactusDaemon
import Wire

/// LegCtrl over a WebSocket, where each client is a link of its own.
extension Legs {
  /// Takes a LegCtrl frame, with or without the leg's number before it. Returns whether the frame was for a leg. As in the protocol, a
  /// pulse for a leg that is not armed is ignored silently; other refusals are reported. A client that has sent a frame to a leg gets its
  /// telemetry ten times a second.
  static func receive(_ frame: [UInt8], from caller: Caller, _ door: FrameDoor<Legs>) -> Bool {
    guard let address = LegFrameAddress(frame) else { return false }
    let (leg, look) = (address.leg, door.look)
    guard look.wiring.legs.indices.contains(leg), let clients = look.shared(LegWays.self)?.clients else {
      door.refuse(.notFound("no leg \(leg); there is 0…\(look.wiring.legs.count - 1)"))
      return true
    }
    func send(_ order: LegOrder) {
      let request = LegRequest(order, to: .leg(leg))
      door.send(request, of: .item(leg), makesSafe: request.makesSafe) { _ in }
    }
    let isNew = clients.note(caller, leg: leg, isPrefixed: address.isPrefixed)
    // As in the protocol, a new connection ends the fault of a lost link. A leg that another client drives is not in this fault.
    if isNew, case .fault(.linkLost, _) = door.newest.state[leg].state { send(.linked) }
    let command: LegCommand
    do {
      command = try address.payload.withUnsafeBytes { bytes throws(LegFrameError) in try LegCommand.decode(bytes) }
    } catch {
      clients.countMalformed(leg: leg)
      send(.invalidFrame)
      door.refuse(APIError(.badRequest, "BAD_FRAME", "not a LegCtrl frame: \(error)"))
      return true
    }
    let request = LegRequest(.command(command), to: .leg(leg))
    door.send(request, of: .item(leg), makesSafe: request.makesSafe) { result in
      switch result {
      case .failure(let error): door.refuse(error)
      case .success(let (answer, newest)):
        if case .refused(let refusal) = answer.verdict, !refusal.reason.isSilent(for: command) {
          door.refuse(refusal, in: newest.state)
        }
      }
    }
    return true
  }

  static func frames(_ published: Published<LegSnapshot>, _ look: Look<Legs>) -> [ClientFrame] {
    look.shared(LegWays.self)?.clients.frames(published.state) ?? []
  }

  static func forget(_ client: UInt32, _ look: Look<Legs>) {
    look.shared(LegWays.self)?.clients.leave(client)
  }
}

extension LegIgnoreReason {
  /// Returns whether the protocol ignores the command silently for this reason.
  fileprivate func isSilent(for command: LegCommand) -> Bool {
    guard case .setServo = command else { return false }
    return switch self {
    case .notArmed, .inFault, .emergencyStopped, .shutDown: true
    default: false
    }
  }
}

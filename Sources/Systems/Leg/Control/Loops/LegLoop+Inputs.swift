import Buses
import Tactus

extension LegLoop {
  @_noLocks @_noAllocation
  mutating func takeRules() {
    rules.begin()
    guard rules.changes != rulesChanges else { return }
    rulesChanges = rules.changes
    let new = rules.rules
    for index in 0..<count { decide(index, .settings(new[index])) }
  }

  /// Returns whether every leg is in its safe state.
  var isSafe: Bool {
    @_noLocks @_noAllocation get {
      for index in 0..<count where !legs[index].machine.state.isSafe { return false }
      return true
    }
  }

  /// A connection's end and beginning come before every frame: what is read afterwards is of the connection that there is.
  ///
  /// Events beyond four a link and tick wait: the link has rung for them again.
  @_noLocks @_noAllocation
  mutating func takeLinkEvents() {
    for port in 0..<ports.count {
      for _ in 0..<4 {
        guard let event = ports.takeEvent(port) else { break }
        switch event {
        case .up: decide(ports.leg(port), .linked)
        case .down: decide(ports.leg(port), .unlinked)
        }
      }
    }
  }

  @_noLocks @_noAllocation
  mutating func takeRequests() {
    while let request = channel.next() {
      heardAt = request.issued
      let (verdict, leg) = serve(request)
      heardAt = nil
      channel.answer(LegAnswer(number: request.number, verdict, leg: leg, at: now))
    }
  }

  /// The verdict, and the leg that it is of.
  @_noLocks @_noAllocation
  private mutating func serve(_ request: LegRequest) -> (LegVerdict, Int) {
    guard let event = request.event(at: now) else { return (.accepted, 0) }
    switch request.target {
    case .leg(let index):
      precondition(index >= 0 && index < count, "no such leg")
      let verdict = decide(index, event)
      let leg = legs + index
      leg.pointee.status.count(verdict)
      return (verdict, index)
    case .all:
      if request.isArm {
        for index in 0..<count {
          if let reason = legs[index].machine.armRefusal { return (.ignored(reason), index) }
        }
      }
      return decideAll(event)
    }
  }

  /// What is left after four batches of a port waits for the next release, which comes within the minimum interval.
  @_noLocks @_noAllocation
  mutating func drain() {
    for port in 0..<ports.count {
      for _ in 0..<Self.batchesPerTick {
        let isFull = ports.receive(port, into: &batch)
        for number in 0..<batch.count { receive(port, number) }
        if !isFull { break }
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func receive(_ port: Int, _ number: Int) {
    let index = ports.leg(port)
    let sender = batch.source(number)
    ports.hear(port, sender, at: now)
    let leg = legs + index
    leg.pointee.status.datagrams &+= 1
    leg.pointee.status.lastSender = sender
    leg.pointee.status.lastLink = ports.kind(port)
    leg.pointee.status.heardAt = now
    let command: LegCommand
    do throws(LegFrameError) {
      guard let bytes = batch.bytes(number) else {
        throw .wrongLength(type: 0, expected: LegCommand.maximumEncodedLength, got: batch.length(number))
      }
      command = try LegCommand.decode(bytes)
    } catch {
      ports.countMalformed(port)
      leg.pointee.status.malformed &+= 1
      leg.pointee.status.lastMalformed = error
      decide(index, .invalidFrame)
      return
    }
    heardAt = batch.arrivedAt(number)
    let verdict = decide(index, .command(command))
    leg.pointee.status.count(verdict)
    heardAt = nil
  }
}

import Buses
import Tactus

extension LegLoop {
  @_noLocks @_noAllocation
  mutating func takeRules() {
    guard ends.rulesChanges != rulesChanges else { return }
    rulesChanges = ends.rulesChanges
    let new = ends.rules
    for index in 0..<count { decide(index, .settings(new[index])) }
  }

  /// Whether every leg is in its safe state.
  var isSafe: Bool {
    @_noLocks @_noAllocation get {
      for index in 0..<count where !legs[index].machine.state.isSafe { return false }
      return true
    }
  }

  /// Handles the connections that were opened or closed, before any frame, so that the frames read afterwards belong to the present
  /// connection.
  ///
  /// Events beyond four for each link and tick wait for the next release, for which the link has rung already.
  @_noLocks @_noAllocation
  mutating func takeLinkEvents() {
    for port in 0..<ports.count {
      for _ in 0..<4 {
        guard let event = ports.takeEvent(port) else { break }
        switch event {
        case .up: decide(ports.leg(port), .order(.linked))
        case .down: decide(ports.leg(port), .order(.unlinked))
        }
      }
    }
  }

  @_noLocks @_noAllocation
  mutating func takeRequests() {
    while let request = ends.nextOfAnyAge() {
      heardAt = request.issued
      let wait = ends.isOvertaken(request) ? LegRequest.tooLong : now - request.issued
      let (verdict, leg) = serve(request.order, from: request.client, after: wait)
      heardAt = nil
      switch verdict {
      case .accepted: ends.answer(request, .accepted)
      case .ignored(let reason): ends.answer(request, .refused(LegRefusal(reason, leg: leg)))
      }
    }
  }

  /// Handles a request and returns the verdict with the index of the leg that gave it.
  @_noLocks @_noAllocation
  private mutating func serve(
    _ request: LegRequest, from client: UInt32, after wait: Nanoseconds
  ) -> (LegVerdict, Int) {
    guard let event = request.event(after: wait) else {
      switch request.order {
      case .clientLeft: loseLinks(of: client)
      case .play(let number): return play(number, from: client, after: wait)
      case .stopSequence: endSequence(.stopped)
      default: break
      }
      return (.accepted, 0)
    }
    switch request.target {
    case .leg(let index):
      precondition(index >= 0 && index < count, "no such leg")
      let verdict = decide(index, event)
      let leg = legs + index
      leg.pointee.status.count(verdict)
      if case .accepted = verdict { noteGroup(leg.pointee.mates, request.order, from: client) }
      return (verdict, index)
    case .all:
      if request.isArm {
        for index in 0..<count {
          if let reason = legs[index].machine.armRefusal { return (.ignored(reason), index) }
        }
      }
      let found = decideAll(event)
      if case .accepted = found.0 {
        for index in 0..<count { note(index, request.order, from: client) }
      }
      return found
    }
  }

  /// Records the holder of a leg: the client whose request fed it last, or none after a request that stopped it.
  @_noLocks @_noAllocation
  private func note(_ index: Int, _ order: LegOrder, from client: UInt32) {
    let leg = legs + index
    switch order {
    case .command(.disarm), .emergencyStop: leg.pointee.status.holder = nil
    case .command: leg.pointee.status.holder = LegHolder(client: client, at: now)
    default: break
    }
  }

  /// Records the holder of every leg of a group; see `note`.
  @_noLocks @_noAllocation
  private mutating func noteGroup(_ mates: UInt32, _ order: LegOrder, from client: UInt32) {
    for index in 0..<count where mates & Self.bit(index) != 0 { note(index, order, from: client) }
  }

  /// Returns whether a datagram came to a leg of a group after `instant`.
  @_noLocks @_noAllocation
  private func hasHeard(_ mates: UInt32, since instant: TickInstant) -> Bool {
    for index in 0..<count where mates & Self.bit(index) != 0 {
      if let heard = legs[index].status.heardAt, instant < heard { return true }
    }
    return false
  }

  /// Handles the disconnect of a client. A leg that the client fed last loses its link, unless another sender has been heard since.
  @_noLocks @_noAllocation
  private mutating func loseLinks(of client: UInt32) {
    // The legs of groups that have lost their link already.
    var lost: UInt32 = 0
    for index in 0..<count where lost & Self.bit(index) == 0 {
      guard client != 0, let holder = legs[index].status.holder, holder.client == client else { continue }
      if hasHeard(legs[index].mates, since: holder.at) { continue }
      lost |= legs[index].mates
      let verdict = decide(index, .order(.unlinked))
      let leg = legs + index
      leg.pointee.status.count(verdict)
    }
  }

  /// Reads up to four batches of frames from each port. Frames that remain wait for the next release, which comes within the minimum
  /// interval.
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
      decide(index, .order(.invalidFrame))
      return
    }
    heardAt = batch.arrivedAt(number)
    let event = LegEvent.order(.command(command))
    let verdict = decide(index, hasWaited() ? event.late : event)
    leg.pointee.status.count(verdict)
    heardAt = nil
    if case .disarm = command, case .accepted = verdict { ends.stopped(at: batch.arrivedAt(number) ?? now) }
  }
  /// Returns whether the frame that is being decided lay in its socket or line for longer than a request may wait: what came while the program was
  /// frozen must not move the leg when it goes on.
  @_noLocks @_noAllocation
  private func hasWaited() -> Bool {
    guard let heardAt else { return ends.hasBacklog }
    return now - heardAt > LegRequest.patience && Mechanism.staleness.acts
  }
}

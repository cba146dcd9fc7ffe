#if Bluetooth
  import Buses
  import Glibc
  import SystemBus
  import Tactus

  /// The work of the central on its thread.
  final class CentralRole: LinkRole {
    private let profile: BluetoothProfile
    private let peer: BluetoothPeer
    private let client: BlueZClient
    private var link: LinkDriver
    private let patience: Nanoseconds
    private let shown: LinkReport<BluetoothCentralState>
    private var phase = CentralPhase.idle(nil)
    /// The number of the present attempt. Answers to calls of an earlier attempt are ignored.
    private var attempt = 0
    private var adapter: String?
    /// The device for which a connection was requested last.
    private var device: String?
    private var generation = 0
    /// The part of a message that BlueZ has not accepted yet, or `nil` if BlueZ has accepted all of it.
    private var pieces: ArraySlice<UInt8>?
    /// Whether a write with response has not been answered yet.
    private var isWriting = false

    init(
      _ profile: BluetoothProfile, to peer: BluetoothPeer, client: BlueZClient, link: consuming LinkDriver,
      patience: Nanoseconds, shown: LinkReport<BluetoothCentralState>
    ) {
      self.profile = profile
      self.peer = peer
      self.client = client
      self.link = link
      self.patience = patience
      self.shown = shown
      client.valueChanged = { [unowned self] path, value in notified(path, value) }
    }

    var bell: Doorbell { link.bell }

    // MARK: actions that follow from the present state

    func settle(at now: TickInstant) {
      let found = client.adapterInUse(at: now)
      if case .idle = phase { return show() }
      switch found {
      case .failure(let unavailable):
        if let absence = unavailable.absence { end(.absent(absence)) }
      case .success(let adapter):
        if case .starting = phase {
          self.adapter = adapter
          generation = client.generation
          scan(on: adapter, at: now)
        }
        if self.adapter != adapter || generation != client.generation {
          // Whatever was being ended has ended with the adapter or with bluetoothd.
          if case .ending(let failure, _, let again) = phase {
            ended(failure, again: again)
          } else {
            end(.disconnected)
          }
        } else {
          advance(on: adapter, at: now)
        }
      }
      show()
    }

    private func advance(on adapter: String, at now: TickInstant) {
      switch phase {
      case .idle, .starting: break
      case .ending(let failure, let until, let again):
        if !(now < until) { ended(failure, again: again) }
      case .scanning(let until):
        if let device = client.tree.find(peer, offering: profile.service, on: adapter) {
          connect(to: device, on: adapter, at: now)
        } else if !(now < until) {
          end(.notFound(after: patience))
        }
      case .connecting(let device, let until):
        // The answer to Connect may fail to come.
        if !client.tree.has(device, BlueZTree.device) {
          end(.disconnected)
        } else if !(now < until) {
          end(.connectRefused(reason: "no answer"))
        }
      case .resolving(let device, let until):
        if client.tree.hasGone(device) {
          end(.disconnected)
        } else if client.tree[device, BlueZTree.device, "ServicesResolved"]?.bool ?? false {
          open(device, at: now)
        } else if !(now < until) {
          end(.notResolved(after: patience))
        }
      case .opening(let device, let until):
        if client.tree.hasGone(device) {
          end(.disconnected)
        } else if !(now < until) {
          end(.subscriptionRefused(reason: "no answer"))
        }
      case .linked(let connection):
        if client.tree.hasGone(connection.device) { end(.disconnected) }
      }
    }

    var deadline: TickInstant? {
      switch phase {
      case .idle, .starting, .linked: nil
      case .scanning(let until), .connecting(_, let until), .resolving(_, let until), .opening(_, let until),
        .ending(_, let until, _):
        until
      }
    }

    private func show() {
      switch phase {
      case .idle(let failure): shown.show(.idle(failure))
      case .starting, .ending: break
      case .scanning: shown.show(.scanning(adapter: BlueZClient.short(adapter ?? "")))
      case .connecting(let device, _), .resolving(let device, _), .opening(let device, _):
        shown.show(.connecting(device: client.tree.address(of: device)))
      case .linked(let connection): shown.show(.connected(device: client.tree.address(of: connection.device)))
      }
    }

    // MARK: an attempt

    private func scan(on adapter: String, at now: TickInstant) {
      phase = .scanning(until: now + patience)
      guard client.tree.find(peer, offering: profile.service, on: adapter) == nil else { return }
      var filter: [String: BusValue] = ["Transport": .text("le")]
      if peer.name == nil && peer.address == nil { filter["UUIDs"] = .texts([profile.service.text]) }
      let chosen = filter
      ask(
        adapter, BlueZTree.adapter, "SetDiscoveryFilter", refused: { .scanRefused(reason: $0) },
        arguments: { (message) throws(SystemBus.Failure) in
          try message.append(.properties(chosen), as: "a{sv}")
        })
      ask(adapter, BlueZTree.adapter, "StartDiscovery", refused: { .scanRefused(reason: $0) })
    }

    private func connect(to device: String, on adapter: String, at now: TickInstant) {
      self.device = device
      // Many radios do not connect while they scan.
      stopScan(on: adapter)
      if client.tree.isConnected(device) ?? false {
        phase = .resolving(device: device, until: now + patience)
        return
      }
      phase = .connecting(device: device, until: now + patience)
      ask(
        device, BlueZTree.device, "Connect", refused: { .connectRefused(reason: $0) },
        answered: { role, _, _ in
          role.client.doubtConnection(of: device)
          role.phase = .resolving(device: device, until: MonotonicClock.now + role.patience)
        })
    }

    private func stopScan(on adapter: String) {
      try? client.bus?.request(BlueZClient.name, adapter, BlueZTree.adapter, "StopDiscovery") { _, _ in }
    }

    private func open(_ device: String, at now: TickInstant) {
      do {
        let ends = try RemoteService(profile, of: device, in: client.tree)
        phase = .opening(device: device, until: now + patience)
        subscribe(device, ends)
      } catch {
        end(error.failure)
      }
    }

    /// Subscribes to notifications, by a socket or else by signals.
    private func subscribe(_ device: String, _ ends: RemoteService) {
      ask(
        ends.notifies, BlueZTree.characteristic, "AcquireNotify",
        arguments: Self.noOptions,
        answered: { role, reply, failure in
          if failure == nil, let socket = reply.descriptor() {
            role.acquireWrite(device, ends, notifications: OwnedDescriptor(socket))
          } else {
            role.ask(
              ends.notifies, BlueZTree.characteristic, "StartNotify", refused: { .subscriptionRefused(reason: $0) },
              answered: { role, _, _ in role.acquireWrite(device, ends, notifications: nil) })
          }
        })
    }

    /// Prepares writing: by a socket if writes need no response, after which BlueZ refuses WriteValue, and otherwise by calls.
    private func acquireWrite(_ device: String, _ ends: RemoteService, notifications: OwnedDescriptor?) {
      func begin(_ role: CentralRole, writes: OwnedDescriptor?) {
        role.begin(
          CentralConnection(device: device, ends: ends, sockets: .init(notifications: notifications, writes: writes)))
      }
      guard ends.takesCommands else { return begin(self, writes: nil) }
      ask(
        ends.written, BlueZTree.characteristic, "AcquireWrite", arguments: Self.noOptions,
        answered: { role, reply, failure in
          begin(role, writes: failure == nil ? reply.descriptor().map { OwnedDescriptor($0) } : nil)
        })
    }

    private func begin(_ connection: CentralConnection) {
      phase = .linked(connection)
      pieces = nil
      isWriting = false
      link.up()
      shown.count { $0.connections &+= 1 }
    }

    private static func noOptions(_ message: borrowing BusMessage) throws(SystemBus.Failure) {
      try message.append(.properties([:]), as: "a{sv}")
    }

    /// Makes a call of this attempt. If it is refused, the attempt ends with the result of `refused`; without `refused` a refusal
    /// counts as an answer.
    private func ask(
      _ path: String, _ interface: String, _ method: String,
      refused: ((String) -> BluetoothCentralFailure)? = nil,
      arguments: (borrowing BusMessage) throws(SystemBus.Failure) -> Void = { (_) throws(SystemBus.Failure) in },
      answered: @escaping (CentralRole, borrowing BusMessage, SystemBus.Failure?) -> Void = { _, _, _ in }
    ) {
      do throws(SystemBus.Failure) {
        try client.bus?.request(
          BlueZClient.name, path, interface, method, patienceMicroseconds: 60_000_000, arguments: arguments
        ) { [unowned self, attempt, generation] reply, failure in
          guard attempt == self.attempt, generation == client.generation else { return }
          if let failure, let refused { end(refused(failure.message)) } else { answered(self, reply, failure) }
        }
      } catch {
        end(.connectRefused(reason: error.message))
      }
    }

    // MARK: the end of it

    private func end(_ failure: BluetoothCentralFailure) {
      attempt += 1
      let last = phase
      phase = .idle(failure)
      pieces = nil
      if link.isUp { link.down() }
      switch last {
      case .idle, .starting: break
      case .scanning: if let adapter { finish(failure, adapter, BlueZTree.adapter, "StopDiscovery") }
      case .opening(let device, _) where failure.isOfSubscription && !isPaired(device): forget(device, failure)
      case .connecting(let device, _), .resolving(let device, _), .opening(let device, _):
        // Disconnect also ends an attempt that BlueZ has not given up yet.
        finish(failure, device, BlueZTree.device, "Disconnect")
      case .linked(let connection): finish(failure, connection.device, BlueZTree.device, "Disconnect")
      case .ending(_, _, let again): ended(failure, again: again)
      }
    }

    /// Removes a device together with bluetoothd's cache of its services. A subscription that was begun with outdated services is
    /// never answered, and prevents every later one.
    private func forget(_ device: String, _ failure: BluetoothCentralFailure) {
      guard let adapter else { return }
      finish(failure, adapter, BlueZTree.adapter, "RemoveDevice") { (message) throws(SystemBus.Failure) in
        try message.append(.path(device), as: "o")
      }
    }

    /// Returns whether the device is paired. Removing the device would end the pairing.
    private func isPaired(_ device: String) -> Bool { client.tree[device, BlueZTree.device, "Paired"]?.bool ?? false }

    private func finish(
      _ failure: BluetoothCentralFailure, _ path: String, _ interface: String, _ method: String,
      arguments: (borrowing BusMessage) throws(SystemBus.Failure) -> Void = { (_) throws(SystemBus.Failure) in }
    ) {
      guard client.tree.has(path, interface) else { return }
      phase = .ending(failure, until: MonotonicClock.now + patience, again: false)
      ask(
        path, interface, method, arguments: arguments,
        answered: { role, _, _ in
          if case .ending(let failure, _, let again) = role.phase { role.ended(failure, again: again) }
        })
    }

    private func ended(_ failure: BluetoothCentralFailure, again: Bool) {
      attempt += 1
      phase = again ? .starting : .idle(failure)
      if again { shown.show(.idle(failure)) }
    }

    func finish() {
      end(.asked)
      if let device { client.endConnection(of: device) }
      client.bus?.flush()
      shown.show(.stopped)
    }

    // MARK: messages

    var waits: [(descriptor: Int32, events: Int16)] {
      guard case .linked(let connection) = phase else { return [] }
      var waits: [(descriptor: Int32, events: Int16)] = []
      if let socket = connection.sockets.notifications {
        waits.append((socket.number, Int16(truncatingIfNeeded: POLLIN)))
      }
      // Without requested events poll still reports that the other side has closed the socket.
      if let socket = connection.sockets.writes {
        waits.append((socket.number, pieces == nil ? 0 : Int16(truncatingIfNeeded: POLLOUT)))
      }
      return waits
    }

    func ready(_ descriptor: Int32) {
      guard case .linked(let connection) = phase else { return }
      if descriptor == connection.sockets.notifications?.number {
        if !connection.sockets.drain({ deliver($0) }) { end(.disconnected) }
      } else if descriptor == connection.sockets.writes?.number {
        if pieces == nil { end(.disconnected) } else { write() }
      }
    }

    private func notified(_ path: String, _ value: [UInt8]) {
      guard case .linked(let connection) = phase, connection.ends.notifies == path,
        connection.sockets.notifications == nil
      else { return }
      value.withUnsafeBytes { deliver($0) }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
      let isDelivered = link.deliver(bytes)
      shown.count { if isDelivered { $0.received &+= 1 } else { $0.refused &+= 1 } }
    }

    func rung() {
      switch link.takeOrder() {
      case .connect?:
        switch phase {
        case .idle: phase = .starting
        case .ending(let failure, let until, _): phase = .ending(failure, until: until, again: true)
        case .starting, .scanning, .connecting, .resolving, .opening, .linked: break
        }
      case .disconnect?:
        switch phase {
        case .idle: break
        case .ending(let failure, let until, _): phase = .ending(failure, until: until, again: false)
        case .starting, .scanning, .connecting, .resolving, .opening, .linked: end(.asked)
        }
      case nil: break
      }
      write()
    }

    /// Writes until BlueZ accepts no more, or there is nothing left to write.
    private func write() {
      while true {
        guard case .linked(let connection) = phase, !isWriting, let rest = pieces ?? next() else {
          // Whatever was sent without a connection is taken out of the ring and dropped.
          if !link.isUp { _ = link.takeMessage() }
          return
        }
        let piece = rest.prefix(profile.mostBytes)
        pieces = rest
        if let socket = connection.sockets.writes {
          switch connection.sockets.write(piece, to: socket) {
          case .written: break
          case .full: return
          case .closed: return end(.disconnected)
          }
        } else {
          call(connection, piece)
        }
        let left = rest.dropFirst(piece.count)
        pieces = left.isEmpty ? nil : left
        if left.isEmpty { shown.count { $0.sent &+= 1 } }
      }
    }

    private func next() -> ArraySlice<UInt8>? {
      while let message = link.takeMessage() {
        if !message.isEmpty, profile.isStream || message.count <= profile.mostBytes { return message[...] }
        shown.count { $0.dropped &+= 1 }
      }
      return nil
    }

    /// Writes a piece by a call: immediately without response, or one piece after the other with response.
    private func call(_ connection: CentralConnection, _ piece: ArraySlice<UInt8>) {
      let isCommand = connection.ends.takesCommands
      isWriting = !isCommand
      ask(
        connection.ends.written, BlueZTree.characteristic, "WriteValue",
        arguments: { (message) throws(SystemBus.Failure) in
          try message.append(.bytes(Array(piece)), as: "ay")
          try message.append(.properties(["type": .text(isCommand ? "command" : "request")]), as: "a{sv}")
        },
        answered: { role, _, _ in
          guard !isCommand else { return }
          role.isWriting = false
          role.write()
        })
    }
  }
#endif

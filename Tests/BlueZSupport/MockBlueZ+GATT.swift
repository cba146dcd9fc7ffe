#if Bluetooth
  import Foundation
  import SystemBus

  /// A GATT device that a test makes up: one service with characteristics; what is written is kept.
  package final class MadeDevice {
    package let name: String
    package let address: String
    package let advertised: [String]
    package let service: String
    /// UUID → flags
    package let characteristics: [(String, [String])]
    package var written: [[UInt8]] = []
    /// Called with each of them.
    package var take: (([UInt8]) -> Void)?
    /// What hands notifications to the central.
    package var notify: (([UInt8]) -> Void)?

    package init(
      _ name: String, address: String, advertised: [String], service: String, _ characteristics: [(String, [String])]
    ) {
      self.name = name
      self.address = address
      self.advertised = advertised
      self.service = service
      self.characteristics = characteristics
    }

    package var objects: [(String, [String: [String: BusValue]])] {
      [("/service0", ["org.bluez.GattService1": ["UUID": .text(service)]])]
        + characteristics.enumerated().map { index, item in
          ("/service0/char\(index)", [MockBlueZ.characteristic: ["UUID": .text(item.0), "Flags": .texts(item.1)]])
        }
    }
  }

  extension MockBlueZ {
    /// A central's calls to a remote characteristic.
    package func characteristic(_ call: borrowing BusMessage, _ path: String, _ member: String) -> Bool {
      guard objects[path] != nil else { return false }
      let device = path.components(separatedBy: "/service")[0]
      let object = "/tactus/service" + path.components(separatedBy: "/service")[1]
      switch member {
      case "WriteValue":
        guard let bytes = call.value()?.bytes else { return false }
        let options = call.value()?.properties ?? [:]
        log.append("type \(options["type"]?.text ?? "none")")
        let waiting = Waiting(call.retained())
        write(bytes, device, object) { mock, failure in
          if let failure { mock.bus.refuse(waiting.call, failure) } else { try? mock.bus.reply(to: waiting.call) }
        }
      case "AcquireWrite":
        guard hasSockets else { return refuse(call) }
        let theirs = socket(for: device) { [unowned self] bytes, _ in write(bytes, device, object) { _, _ in } }
        give(theirs, to: call)
      case "AcquireNotify":
        guard hasSockets else { return refuse(call) }
        let theirs = socket(for: device) { _, _ in }
        let ours = sockets[device]!.last!
        subscribe(device, object) { bytes in _ = bytes.withUnsafeBytes { send(ours, $0.baseAddress, $0.count, 0) } }
        give(theirs, to: call)
      case "StartNotify":
        subscribe(device, object) { [unowned self] bytes in set(path, Self.characteristic, "Value", .bytes(bytes)) }
        try? bus.reply(to: call)
      default: return false
      }
      return true
    }

    private func refuse(_ call: borrowing BusMessage) -> Bool {
      bus.refuse(call, .init(name: "org.bluez.Error.NotSupported", message: "Operation is not supported"))
      return true
    }

    private func give(_ socket: Int32, to call: borrowing BusMessage) {
      try? bus.reply(to: call) { (reply) throws(SystemBus.Failure) in
        try reply.append(.descriptor(socket), as: "h")
        try reply.append(UInt16(23))
      }
      close(socket)
    }

    /// A pair whose one end stays here until the device is gone; the other is the caller's.
    private func socket(for device: String, _ handler: @escaping ([UInt8], Int32) -> Void) -> Int32 {
      var ends: [Int32] = [-1, -1]
      let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      precondition(socketpair(AF_UNIX, type, 0, &ends) == 0)
      let ours = ends[0]
      sockets[device, default: []].append(ours)
      bridges.append(Bridge(from: ours) { handler($0, ours) })
      return ends[1]
    }

    /// The peripheral's application, and the device that it sees.
    private func other(_ device: String) -> (owner: String, device: String)? {
      guard case .adapter(let adapter)? = remotes[device], let application = applications[adapter] else { return nil }
      let own = device.components(separatedBy: "/dev_")[0]
      return (application.owner, Self.path(adapter, address(own)))
    }

    private func write(
      _ bytes: [UInt8], _ device: String, _ object: String,
      _ then: @escaping (MockBlueZ, SystemBus.Failure?) -> Void
    ) {
      if case .made(let made)? = remotes[device] {
        made.written.append(bytes)
        made.take?(bytes)
        return then(self, nil)
      }
      guard let other = other(device) else { return then(self, .init(name: "org.bluez.Error.Failed", message: "gone")) }
      call(other.owner, object, "WriteValue", other.device, bytes, then)
    }

    /// As bluetoothd calls a peripheral's characteristic.
    package func call(
      _ owner: String, _ object: String, _ method: String, _ device: String, _ bytes: [UInt8]? = nil,
      offset: UInt16 = 0, _ then: @escaping (MockBlueZ, SystemBus.Failure?) -> Void
    ) {
      try? bus.request(
        owner, object, Self.characteristic, method,
        arguments: { (message) throws(SystemBus.Failure) in
          if let bytes { try message.append(.bytes(bytes), as: "ay") }
          try message.append(
            .properties([
              "device": .path(device), "mtu": .uint16(23), "link": .text("LE"), "offset": .uint16(offset),
              "type": .text("command"),
            ]), as: "a{sv}")
        },
        answer: { [unowned self] reply, failure in
          if failure == nil, method == "AcquireNotify", let socket = reply.descriptor() {
            sockets[device, default: []].append(socket)
            received[device] = received[device] ?? []
            bridges.append(
              Bridge(from: socket) { [unowned self] bytes in
                received[device]!.append(bytes)
                notified[device]?(bytes)
              })
          }
          then(self, failure)
        })
    }

    private func subscribe(_ device: String, _ object: String, _ handler: @escaping ([UInt8]) -> Void) {
      if case .made(let made)? = remotes[device] {
        made.notify = handler
        return
      }
      guard let other = other(device) else { return }
      notified[other.device] = handler
      call(other.owner, object, "AcquireNotify", other.device) { _, _ in }
    }
  }
#endif

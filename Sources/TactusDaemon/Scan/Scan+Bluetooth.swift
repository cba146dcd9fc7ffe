import BluetoothBlueZ

extension Scan {
  /// Listens for Bluetooth LE devices, the nearest first.
  func bluetooth() -> ScanReport {
    guard machine.isThisOne else { return ScanReport(remarks: ["nothing is listened for: only files are looked at"]) }
    #if Bluetooth
      do throws(BluetoothAbsence) {
        let devices = try BluetoothScan.devices(on: busAddress, patience: patience)
        let finds = devices.map { find($0) }
        let seconds = (patience.count + 999_999_999) / 1_000_000_000
        return ScanReport(
          finds: finds,
          remarks: finds.isEmpty
            ? ["no device advertised within \(seconds) s: switch it on, and end its other connection"] : [])
      } catch {
        return ScanReport(remarks: ["\(error)"])
      }
    #else
      return ScanReport(remarks: ["this build has no Bluetooth: trait Bluetooth"])
    #endif
  }

  #if Bluetooth
    private func find(_ device: BluetoothScan.Device) -> ScanFind {
      var find = ScanFind(kind: .ble, place: device.address, name: Printable.text(device.name ?? ""))
      if let strength = device.strengthDecibels { find.details.append("\(strength) dBm") }
      if device.isConnected { find.details.append("connected to this machine") }
      find.details += device.services.map(\.short)
      for (key, findable) in keys {
        guard case .bluetooth(let service, let what, let prefix) = findable, device.services.contains(service)
        else { continue }
        if !find.probably.contains(what) { find.probably.append(what) }
        find.settings.append([ScanFind.Setting(key: key.path, value: prefix + device.address)])
      }
      let peers = DaemonProgram.current.kinds.compactMap { ($0.declaration as? any FindsDevices.Type)?.bluetoothPeers }
      for service in device.services { find.probably += peers.compactMap { $0[service] } }
      return find
    }
  #endif
}

import AvahiSystemd

extension Scan {
  /// Browses the local network for other daemons, for what the keys need, and for what the systems announce.
  func announced() -> ScanReport {
    guard machine.isThisOne else { return ScanReport(remarks: ["nothing is browsed: only files are looked at"]) }
    #if Bonjour
      let types = Set(
        [Announcement.type]
          + keys.compactMap { if case .announced(let type, _, _) = $0.by { type } else { nil } })
      do throws(AvahiBrowser.Failure) {
        let services = try AvahiBrowser.services(types.sorted(), on: busAddress, patience: patience)
        return ScanReport(
          finds: services.map { find($0) },
          remarks: services.isEmpty ? ["nobody announces " + types.sorted().joined(separator: " or ")] : [])
      } catch {
        return ScanReport(remarks: [error.reason])
      }
    #else
      return ScanReport(remarks: ["this build browses no network: trait Bonjour"])
    #endif
  }

  #if Bonjour
    private func find(_ service: AvahiBrowser.Service) -> ScanFind {
      let address = service.address.contains(":") ? "[\(service.address)]" : service.address
      var find = ScanFind(
        kind: .mdns, place: "\(address):\(service.port)", name: Printable.text(service.name),
        details: [service.type, Printable.text(service.host)])
      find.details += service.records.map { Printable.text($0) }
      if service.type == Announcement.type { find.probably.append("a daemon of this kind") }
      for (key, findable) in keys {
        guard case .announced(service.type, let port, let standard) = findable else { continue }
        var settings = [ScanFind.Setting(key: key.path, value: service.address)]
        if service.port != standard { settings.append(ScanFind.Setting(key: port, value: "\(service.port)")) }
        find.settings.append(settings)
      }
      return find
    }
  #endif
}

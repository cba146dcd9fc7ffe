extension Scan {
  /// Lists the cameras as the system that shows them finds them.
  func cameras() -> ScanReport {
    guard var report = ownReport(.camera) else {
      return ScanReport(remarks: ["no system of this program shows a camera"])
    }
    for index in report.finds.indices {
      for (key, findable) in keys where findable == .camera {
        let setting = ScanFind.Setting(key: key.path, value: report.finds[index].place)
        report.finds[index].settings.append([setting])
      }
    }
    return report
  }
}

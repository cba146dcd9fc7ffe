import Buses

/// A sensor of the kernel that a system reads, with the key that names it.
struct PlannedSensor: Sendable, Equatable {
  var name: KernelSensorName
  var quantity: KernelQuantity
  var key: String
}

extension Doctor {
  /// Checks that the sensors of the kernel which declared systems read are there and measure what they should. None is read.
  func sensors(_ sensors: [PlannedSensor]) -> [Diagnosis] {
    let tree = KernelSensorTree(text: machine.read, names: machine.list, link: machine.link)
    return sensors.map { sensor in
      var found: String
      var isGood = false
      do throws(KernelSensorTree.Absence) {
        let place = try tree.find(sensor.name)
        isGood = place.quantity == sensor.quantity
        found = isGood ? place.file : "\(place.file) is a sensor of \(place.quantity), not of \(sensor.quantity)"
      } catch {
        found = "\(error)"
      }
      return Diagnosis(
        name: sensor.key, status: isGood ? .ok : .fail, found: found,
        why: "without it the system has no value, and does what it does then",
        fix: isGood
          ? nil : "\(DaemonProgram.current.name) scan sensor lists those that are there, as \(sensor.key) names them")
    }
  }
}

import Buses
import BusesLinux
import Tactus

/// Reads a sensor of the kernel once and prints its value, or why there is none. Returns the exit status.
func printSensor(_ text: String, _ quantity: String) -> Int32 {
  guard let name = KernelSensorName(text), let quantity = KernelQuantity(rawValue: quantity) else {
    print("expected a sensor's name and what it measures, got \(text) \(quantity)")
    return 64
  }
  let sensor = LinuxSensor(name, measures: quantity)
  let reading = sensor.read(at: MonotonicClock.now)
  if let error = reading.error { print("\(error): \(sensor.trouble ?? "")") } else { print(reading.value) }
  return reading.error == nil ? 0 : 1
}

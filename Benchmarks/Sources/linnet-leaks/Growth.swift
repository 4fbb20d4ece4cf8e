import BenchMemory

/// The growth of memory during the exchanges.
struct Growth {
    /// The limit in bytes per exchange. An exchange that leaks leaves at least one object: 16 bytes plus its fields.
    /// The smallest object of an exchange takes 48 bytes.
    static let noise = 20.0
    /// The bytes that caches and buffers of the event loops may allocate after the warm-up, independent of the
    /// exchanges.
    static let slack = 512.0 * 1024
    /// The same for resident memory, which also depends on the page size and on fragmentation.
    static let residentSlack = 4.0 * 1024 * 1024

    let gauges: [Gauge]
    /// The number of exchanges between two gauges.
    let exchanges: Int

    /// Bytes per exchange.
    var allocated: Double { gauges.slope(\.allocated) / Double(exchanges) }
    var resident: Double { gauges.slope(\.resident) / Double(exchanges) }

    var faults: [String] {
        let total = Double(exchanges * (gauges.count - 1))
        var faults: [String] = []
        if allocated > Self.noise + Self.slack / total {
            faults.append("\(allocated.rounded()) bytes per exchange stay allocated")
        }
        if resident > Self.noise + Self.residentSlack / total {
            faults.append("resident memory grows by \(resident.rounded()) bytes per exchange")
        }
        return faults
    }
}

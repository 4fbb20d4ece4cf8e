import CAllocator
import Glibc

/// The resources of this process.
struct Gauge {
    /// The allocated bytes in all arenas and in separate mappings.
    var allocated: Int
    /// The resident bytes.
    var resident: Int
    var descriptors: Int
    var threads: Int

    /// Measures after the allocator has released its free memory.
    static func read() -> Gauge {
        let allocated = Int(allocator_trimmed_bytes_in_use())
        return Gauge(
            allocated: allocated, resident: status("VmRSS:") * 1024,
            descriptors: entries("/proc/self/fd"), threads: status("Threads:"))
    }

    private static func entries(_ path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    private static func status(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix(name) { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }
}

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

    /// Bytes per exchange: the median of the slopes between all pairs of points, so that an outlier has no effect.
    func slope(_ value: (Gauge) -> Int) -> Double {
        var slopes: [Double] = []
        for first in gauges.indices {
            for second in gauges.indices.dropFirst(first + 1) {
                let distance = Double((second - first) * exchanges)
                slopes.append(Double(value(gauges[second]) - value(gauges[first])) / distance)
            }
        }
        slopes.sort()
        return slopes.isEmpty ? 0 : (slopes[(slopes.count - 1) / 2] + slopes[slopes.count / 2]) / 2
    }

    var allocated: Double { slope(\.allocated) }
    var resident: Double { slope(\.resident) }

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

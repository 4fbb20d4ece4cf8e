import CAllocator
import Glibc

/// What this process holds.
struct Gauge {
    /// Bytes that were allocated and not freed, in all arenas and in mappings of their own.
    var allocated: Int
    /// Bytes that lie in memory.
    var resident: Int
    var descriptors: Int
    var threads: Int

    /// Measures once the allocator has given back what it can.
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

/// How memory went on while exchanges were made.
struct Growth {
    /// Bytes an exchange. What stays of an exchange that leaks is an object at least, which is 16 bytes and its fields; the
    /// smallest of ours that has an exchange as its owner takes 48.
    static let noise = 20.0
    /// What caches and buffers of the event loops may still take after the warm-up, whatever the number of exchanges.
    static let slack = 512.0 * 1024
    /// The same for resident memory, which goes by pages and by how the allocator's free pieces lie.
    static let residentSlack = 4.0 * 1024 * 1024

    let gauges: [Gauge]
    /// Between one gauge and the next.
    let exchanges: Int

    /// Bytes an exchange: the median of the slopes between any two points, so that one odd point decides nothing.
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
            faults.append("\(allocated.rounded()) bytes an exchange stay allocated")
        }
        if resident > Self.noise + Self.residentSlack / total {
            faults.append("resident memory grows by \(resident.rounded()) bytes an exchange")
        }
        return faults
    }
}

import CAllocator

/// The resources of this process.
package struct Gauge: Sendable {
    /// The allocated bytes in all arenas and in separate mappings.
    package var allocated: Int
    /// The resident bytes.
    package var resident: Int
    package var descriptors: Int
    package var threads: Int

    /// Measures after the allocator has released its free memory.
    package static func read() -> Gauge {
        let allocated = Int(allocator_trimmed_bytes_in_use())
        return Gauge(
            allocated: allocated, resident: status("VmRSS:") * 1024,
            descriptors: Proc.entries(of: "/proc/self/fd").count, threads: status("Threads:"))
    }

    private static func status(_ name: String) -> Int {
        let line = Proc.lines(of: "/proc/self/status").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

extension Collection<Gauge> where Index == Int {
    /// The change of a value from one gauge to the next: the median of the slopes between all pairs of points, so that
    /// an outlier has no effect.
    package func slope(_ value: (Gauge) -> Int) -> Double {
        var slopes: [Double] = []
        for first in indices {
            for second in indices.dropFirst(first - startIndex + 1) {
                slopes.append(Double(value(self[second]) - value(self[first])) / Double(second - first))
            }
        }
        slopes.sort()
        return slopes.isEmpty ? 0 : (slopes[(slopes.count - 1) / 2] + slopes[slopes.count / 2]) / 2
    }
}

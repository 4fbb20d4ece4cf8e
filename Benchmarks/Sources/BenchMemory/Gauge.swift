import CAllocator
import Glibc

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

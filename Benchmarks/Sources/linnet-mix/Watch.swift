import BenchMemory
import Foundation
import Linnet

/// Measures the resources of this process while no operation runs.
struct Watch {
    /// The bytes by which memory may grow in the second half of a run: the tables of the process, whose size depends on
    /// chance, and the fragments between what stays.
    static let allocatedSlack = 256.0 * 1024
    static let residentSlack = 4.0 * 1024 * 1024

    private(set) var gauges: [Gauge] = []
    private let begin = ContinuousClock.now

    init(room: Int) { gauges.reserveCapacity(room) }

    /// Closes idle connections, whose number depends on chance, waits for their ends, and measures.
    ///
    /// Each thread of libdispatch keeps up to 1,024 freed continuations of 64 bytes, and how many depends on chance. It
    /// frees them when it ends, after five seconds without work. This waits until only its own thread and the manager
    /// are left, and blocks its thread meanwhile, since a timer would be work for others.
    mutating func measure(_ lanes: [Lane], done: Int) {
        for lane in lanes { lane.session.closeIdleConnections() }
        var gauge = Gauge.read()
        var unchanged = 0
        for _ in 0..<150 where unchanged < 5 || Threads.all().values.filter({ $0.contains("-qos") }).count > 2 {
            usleep(100_000)
            let next = Gauge.read()
            unchanged = next.descriptors == gauge.descriptors && next.threads == gauge.threads ? unchanged + 1 : 0
            gauge = next
        }
        gauges.append(gauge)
        let seconds = Int((ContinuousClock.now - begin) / .seconds(1))
        tell(
            "\(seconds) s: \(done) operations, KiB resident \(gauge.resident / 1024), allocated "
                + "\(gauge.allocated / 1024), descriptors \(gauge.descriptors), threads \(gauge.threads)")
    }

    /// The second half.
    private var late: ArraySlice<Gauge> { gauges[(gauges.count / 2)...] }

    private func growth(_ value: (Gauge) -> Int) -> Double { late.slope(value) * Double(late.count - 1) }

    var summary: String {
        String(
            format: "growth in the second half: %+.1f KiB allocated, %+.1f KiB resident, %+.1f descriptors, "
                + "%+.1f threads", growth(\.allocated) / 1024, growth(\.resident) / 1024, growth(\.descriptors),
            growth(\.threads))
    }

    var faults: [String] {
        var faults: [String] = []
        if growth(\.allocated) > Self.allocatedSlack { faults.append("allocated memory grows") }
        if growth(\.resident) > Self.residentSlack { faults.append("resident memory grows") }
        if growth(\.descriptors) >= 1 { faults.append("descriptors grow") }
        if growth(\.threads) >= 1 { faults.append("threads grow") }
        return faults
    }
}

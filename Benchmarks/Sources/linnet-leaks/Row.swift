import BenchMemory
import Foundation
import Linnet

/// The measurement of one kind of exchange over one protocol.
struct Row {
    static let workers = 8

    let wire: Wire
    let kind: Kind
    let exchanges: Int

    func run() async throws -> [String] {
        let server = try ServerProcess(wire)
        defer { server.end() }
        // A first client opens the process-wide descriptors.
        let first = try Client(server, wire)
        try await exchange(Self.workers, first)
        await first.session.shutdown()
        // So does the first timer.
        try await Task.sleep(for: .milliseconds(1))
        let open = Descriptor.all()
        let before = Gauge.read()
        let client = try Client(server, wire)
        let start = ContinuousClock.now
        try await exchange(exchanges / 5, client)
        var growth = try await measure(client)
        // In a short run, buffers that grow once look like a leak, and so do the freed continuations that libdispatch
        // keeps, up to 1,024 for each thread: with downloads, they take 10,000 exchanges to fill. A leak continues to
        // grow.
        for _ in 0..<5 where !growth.faults.isEmpty { growth = try await measure(client) }
        let seconds = (ContinuousClock.now - start).components.seconds
        await client.session.shutdown(.immediate)
        let after = try await settled(before, open)
        var faults = growth.faults
        faults += Descriptor.opened(since: open).map { "descriptor \($0) is left" }
        // The pools of the process may start their last threads late; a leak grows with the exchanges.
        if after.threads > before.threads + ProcessInfo.processInfo.activeProcessorCount {
            faults.append("\(after.threads - before.threads) threads are left")
        }
        report(growth, before, after, seconds, isFine: faults.isEmpty)
        return faults
    }

    private func measure(_ client: Client) async throws -> Growth {
        var gauges = [Gauge.read()]
        for _ in 0..<4 {
            try await exchange(exchanges / 4, client)
            gauges.append(Gauge.read())
        }
        return Growth(gauges: gauges, exchanges: exchanges / 4)
    }

    private func exchange(_ count: Int, _ client: Client) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    for number in stride(from: worker, to: count, by: Self.workers) {
                        do {
                            try await kind.perform(client, worker)
                        } catch {
                            throw Failure("\(wire.rawValue) \(kind.name), exchange \(number): \(error)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits up to five seconds for sockets and threads to end after a shutdown.
    private func settled(_ before: Gauge, _ open: Set<Descriptor>) async throws -> Gauge {
        for _ in 0..<100 {
            let gauge = Gauge.read()
            if Descriptor.opened(since: open).isEmpty, gauge.threads <= before.threads { return gauge }
            try await Task.sleep(for: .milliseconds(50))
        }
        return Gauge.read()
    }

    private func report(_ growth: Growth, _ before: Gauge, _ after: Gauge, _ seconds: Int64, isFine: Bool) {
        let name = "\(wire.rawValue) \(kind.name)".padding(toLength: 26, withPad: " ", startingAt: 0)
        let resident = growth.gauges.map { "\($0.resident / 1024)" }.joined(separator: " ")
        let allocated = growth.gauges.map { "\($0.allocated / 1024)" }.joined(separator: " ")
        let slopes = String(
            format: "%+.1f B allocated, %+.1f B resident an exchange", growth.allocated, growth.resident)
        tell(
            "\(isFine ? "ok   " : "FAIL ") \(name) \(slopes); KiB resident \(resident); KiB allocated \(allocated); "
                + "descriptors \(before.descriptors) \(after.descriptors), threads \(before.threads) \(after.threads); "
                + "\(exchanges) in \(seconds) s")
    }
}

import BenchMemory
import Foundation
import Linnet
import LinnetTesting
import Synchronization

/// Mixes all kinds of operations over several lanes while servers are killed, pins are wrong, a proxy cuts and a link
/// goes down, and checks that each operation has the right result or an error with a cause, that the counts of the
/// servers agree, and that memory, descriptors and threads stay flat.
///
/// ```
/// linnet-mix                30 minutes, 50 operations a second
/// linnet-mix 60 20          60 minutes, 20 operations a second
/// linnet-mix 5 50 17        with the operations of the seed 17
/// ```
///
/// `make soak MINUTES=30` builds and runs it with glibc's thread caches disabled, as linnet-leaks. The servers run in
/// processes of their own, one for each lane (``Lane/Name``). An operation follows from the seed and its number
/// (``Draw``), and so do the bodies (``Content``). An error needs a cause: a fault of 2 % of the requests, a
/// cancellation, or something that was done to the lane at the time (``Weather``). The exit code is 1 when an operation
/// was lost or wrong, when a request was processed twice without leave, or when the slopes of the second half rise.
@main
struct Mix {
    static let workers = 12

    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "serve" { return try await Serve.run(Array(words.dropFirst())) }
        let numbers = words.map { Double($0) ?? 0 }
        guard numbers.count <= 3, numbers.allSatisfy({ $0 > 0 }) else {
            print("usage: linnet-mix [MINUTES [OPERATIONS-PER-SECOND [SEED]]]")
            exit(64)
        }
        let seed = numbers.count > 2 ? UInt64(numbers[2]) : UInt64.random(in: 1..<1 << 32)
        let mix = try Mix(
            minutes: numbers.first ?? 30, rate: numbers.count > 1 ? numbers[1] : 50, seed: seed)
        exit(try await mix.run() ? 0 : 1)
    }

    private let minutes: Double
    private let rate: Double
    private let seed: UInt64
    private let folder: URL
    private let weather = Weather()
    private let tally: Tally
    private let gate = Gate()

    private init(minutes: Double, rate: Double, seed: UInt64) throws {
        (self.minutes, self.rate, self.seed) = (minutes, rate, seed)
        folder = FileManager.default.temporaryDirectory.appending(path: "linnet-mix-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        tally = Tally(weather, try Ledger(folder.path + ".client"))
    }

    // MARK: The run

    private func run() async throws -> Bool {
        tell("seed \(seed), \(minutes) minutes, \(rate) operations a second")
        let link = Link()
        defer {
            if link != nil { Link.remove() }
            try? FileManager.default.removeItem(at: folder)
            for end in ["client", "server"] { unlink("\(folder.path).\(end)") }
        }
        tell("link: \(link.map { "a network namespace; \($0.loss)" } ?? "skipped, it requires root and iproute2")")
        // A first session opens the process-wide descriptors, and so does the first timer.
        try await warmUp()
        let remainder = Remainder(folder: folder)
        let lanes = try Lane.Name.allCases.filter { $0 != .link || link != nil }.map {
            try Lane($0, ledger: folder.path + ".server", link: link)
        }
        let next = Counter()
        let watch = try await perform(on: lanes, link, next)
        for lane in lanes { await lane.session.shutdown() }
        for lane in lanes { lane.end() }
        // The pools of the process start their threads when they need them, and keep them.
        let threads = watch.gauges.last?.threads ?? 0
        return report(watch, left: remainder.left(threads: threads), issued: next.value, lanes)
    }

    private func warmUp() async throws {
        let child = try Child(.plain, port: 0, ledger: "/dev/null", link: nil)
        let session = try HTTPSession(baseURL: URL(string: "http://127.0.0.1:\(child.port)/"))
        try await session.get("file/0").response()
        await session.shutdown()
        child.process.end()
        try await Task.sleep(for: .milliseconds(1))
        // Each server that is killed has a successor with other certificates, of which the process keeps a few parsed.
        for _ in 0..<64 {
            let pki = try TestPKI()
            let chain = try pki.identity().chain.map(\.derBytes)
            let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
            guard await policy.evaluate(ServerTrust(host: "localhost", port: 443, presentedChain: chain)).isAccepted
            else {
                throw Failure("A chain of the tests is refused.")
            }
        }
    }

    /// Runs the workers and the weather, and measures from time to time.
    private func perform(on lanes: [Lane], _ link: Link?, _ next: Counter) async throws -> Watch {
        let interval = Duration.seconds(max(2, minutes * 60 / 30))
        let end = ContinuousClock.now + .seconds(minutes * 60)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<Self.workers {
                let worker = Worker(index, in: folder)
                group.addTask { await work(worker, on: lanes, next) }
            }
            group.addTask {
                var forecast = Forecast(
                    lanes: lanes, weather: weather, link: link, random: Random(seed: seed, .max))
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 500..<3000, using: &forecast.random)))
                    await gate.enter(-1)
                    do {
                        if !Task.isCancelled { try await forecast.next() }
                    } catch {
                        abort("FAILED  \(error)")
                    }
                    await gate.leave(-1)
                }
            }
            var watch = Watch(room: 64)
            while ContinuousClock.now < end {
                try await Task.sleep(for: interval)
                try await closeGate()
                watch.measure(lanes, done: tally.count.done)
                if ContinuousClock.now >= end { group.cancelAll() }
                await gate.open()
            }
            try await group.waitForAll()
            return watch
        }
    }

    /// Waits until no operation runs. One that never ends is a lost request.
    private func closeGate() async throws {
        let watchdog = Task {
            try await Task.sleep(for: .seconds(120))
            abort("LOST  after 120 s, these have not ended: \(await gate.running)")
        }
        await gate.close()
        watchdog.cancel()
    }

    private func work(_ worker: Worker, on lanes: [Lane], _ next: Counter) async {
        var random = Random(seed: seed, UInt64.max - 1 - UInt64(worker.index))
        let names = lanes.map(\.name)
        var due = ContinuousClock.now
        while true {
            // Exponential, as independent users.
            due += .seconds(-log(1 - Double.random(in: 0..<1, using: &random)) * Double(Self.workers) / rate)
            due = max(due, .now - .seconds(1))
            try? await Task.sleep(until: due)
            await gate.enter(worker.index)
            guard !Task.isCancelled else { return await gate.leave(worker.index) }
            let draw = Draw(next.increment(), seed: seed, lanes: names)
            await gate.describe(worker.index, "\(draw.number) \(draw.lane) \(draw.kind), \(draw.size) bytes")
            if let lane = lanes.first(where: { $0.name == draw.lane }) { await exchange(draw, lane, worker) }
            await gate.leave(worker.index)
        }
    }

    private func exchange(_ draw: Draw, _ lane: Lane, _ worker: Worker) async {
        // Such a fault also ends the other streams of its connection, or the request that comes after it.
        let spell = draw.fault.flatMap { fault in
            fault.endsConnection(isHTTP2: lane.name.isHTTP2)
                ? weather.begin("fault of another request", on: lane.name, explains: fault.codes) : nil
        }
        let start = ContinuousClock.now
        let result: Result<Exchange.Success, any Error>
        do {
            result = .success(try await Exchange(draw: draw, lane: lane, worker: worker).run())
        } catch {
            result = .failure(error)
        }
        if let spell { weather.end(spell, effects: .milliseconds(200)) }
        tally.note(draw, result, since: start)
    }

    // MARK: The end

    private func abort(_ message: String) -> Never {
        tell(message)
        Link.remove()
        exit(1)
    }

    private func report(_ watch: Watch, left: [String], issued: UInt64, _ lanes: [Lane]) -> Bool {
        tally.print()
        let names = lanes.map(\.name)
        let counts = Reconciliation(issued: issued, client: folder.path + ".client", server: folder.path + ".server") {
            Draw($0, seed: seed, lanes: names)
        }
        tell(counts.summary)
        tell(watch.summary)
        let (done, lost, wrong) = tally.count
        for fault in (counts.faults.prefix(20) + watch.faults + left) { tell("FAILED  \(fault)") }
        let isFine = lost == 0 && wrong == 0 && counts.faults.isEmpty && watch.faults.isEmpty && left.isEmpty
        tell("\(done) operations: \(lost) lost, \(wrong) wrong, \(watch.faults.isEmpty ? "flat" : "not flat")")
        return isFine
    }
}

/// Numbers the operations.
final class Counter: Sendable {
    private let next = Atomic<UInt64>(0)

    func increment() -> UInt64 { next.add(1, ordering: .relaxed).oldValue }

    var value: UInt64 { next.load(ordering: .relaxed) }
}

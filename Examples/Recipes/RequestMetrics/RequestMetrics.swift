import ArgumentParser
import Linnet

#if Metrics
import CoreMetrics
import LinnetMetrics
import Synchronization

/// Requests URLs several times, and prints the metrics of the session.
@main
struct RequestMetrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-request-metrics")

    @Argument(help: "The URLs.")
    var urls: [String]

    @Option(help: "How often each is requested.")
    var count = 3

    func run() async throws {
        let totals = Totals()
        MetricsSystem.bootstrap(totals)
        let session = try HTTPSession { $0.instruments = [.metrics] }
        for url in urls {
            for _ in 0..<count { _ = try? await session.get(url).data() }
        }
        await session.shutdown()
        print(totals.text)
    }
}

/// Sums what the session records. A service takes the factory of its backend in its place, such as Prometheus or
/// OpenTelemetry.
final class Totals: MetricsFactory {
    private let series = Mutex<[String: Series]>([:])

    var text: String {
        let all = series.withLock { $0 }
        return all.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" }.joined(separator: "\n")
    }

    private func find(_ label: String, _ dimensions: [(String, String)]) -> Series {
        let labels = dimensions.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        return series.withLock { all in
            let found = all["\(label){\(labels)}"] ?? Series()
            all["\(label){\(labels)}"] = found
            return found
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { find(label, dimensions) }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { find(label, dimensions) }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { find(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        find(label, dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
}

final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private let value = Mutex((count: 0, sum: 0.0))

    var text: String { value.withLock { "count=\($0.count) sum=\($0.sum)" } }

    func record(_ number: Double) { value.withLock { $0 = ($0.count + 1, $0.sum + number) } }
    func record(_ number: Int64) { record(Double(number)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func increment(by amount: Int64) { record(Double(amount)) }
    func increment(by amount: Double) { record(amount) }
    func decrement(by amount: Double) { record(-amount) }
    func set(_ number: Int64) { set(Double(number)) }
    func set(_ number: Double) { value.withLock { $0 = ($0.count + 1, number) } }
    func reset() { value.withLock { $0 = (0, 0) } }
}
#else
/// Without the trait, the module has no metrics.
@main
struct RequestMetrics: ParsableCommand {
    func run() throws {
        throw ValidationError("Build this recipe with the trait Metrics: swift run --traits default,Metrics")
    }
}
#endif

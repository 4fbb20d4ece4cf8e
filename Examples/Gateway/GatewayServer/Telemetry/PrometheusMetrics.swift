package import CoreMetrics
import Synchronization

/// The metrics of a process, in Prometheus's text format (version 0.0.4).
package final class PrometheusMetrics: MetricsFactory {
    /// The most series of a name; further ones are counted together, so that labels cannot fill the memory.
    private static let seriesLimit = 500
    private let families = Mutex<[String: [String: PrometheusSeries]]>([:])

    package init() {}

    /// All metrics, sorted by name and labels.
    package var text: String {
        families.withLock { $0 }.sorted { $0.key < $1.key }.map { name, family in
            "# TYPE \(name) \(family.first?.value.kind.rawValue ?? "untyped")\n"
                + family.sorted { $0.key < $1.key }.map { $1.lines(name, $0) }.joined()
        }.joined()
    }

    private func series(
        _ kind: PrometheusSeries.Kind, _ label: String, _ dimensions: [(String, String)], bounds: [Double] = []
    ) -> PrometheusSeries {
        let (name, labels) = (Self.name(label) + kind.suffix, Self.labels(dimensions))
        return families.withLock { families in
            var family = families[name] ?? [:]
            let key = family[labels] != nil || family.count < Self.seriesLimit ? labels : #"overflow="true""#
            let series = family[key] ?? PrometheusSeries(kind, bounds: bounds)
            family[key] = series
            families[name] = family
            return series
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(.counter, label, dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(.gauge, label, dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(aggregate ? .histogram : .gauge, label, dimensions, bounds: PrometheusSeries.amounts)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.histogram, label + ".seconds", dimensions, bounds: PrometheusSeries.seconds)
    }

    // The series of a name stay, since Prometheus takes a counter that disappears for a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Replaces the characters that a name must not have, such as dots, with underscores.
    private static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { "\(name($0))=\"\(escaped($1))\"" }.sorted().joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        String(value.prefix(200))
            .replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#).replacing("\n", with: #"\n"#)
    }
}

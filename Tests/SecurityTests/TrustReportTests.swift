import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Synchronization
import Testing

@Suite("Reports", .timeLimit(.minutes(5)))
struct TrustReportTests {
    private final class Collector: Sendable {
        private let all = Mutex<[TrustReport]>([])

        var reports: [TrustReport] { all.withLock { $0 } }
        var last: TrustReport? { reports.last }

        func add(_ report: TrustReport) { all.withLock { $0.append(report) } }
    }

    private final class Clock: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_000_000))

        var now: Date { date.withLock { $0 } }

        func advance(hours: Double) { date.withLock { $0.addTimeInterval(hours * 3600) } }
    }

    private let pki: TestPKI
    private let identity: TestPKI.Identity
    private let wanted: PublicKeyPin
    private let collector = Collector()

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity()
        wanted = try TestPKI.selfSigned().pin
    }

    private func pinned(_ expiry: PinSet.Expiry? = nil) throws -> StandardTrustEvaluator {
        try StandardTrustEvaluator.pins(PinSet([wanted], expiry: expiry), anchors: pki.anchors)
    }

    private func policy(_ pattern: String, _ evaluator: any TrustEvaluator) throws -> SecurityPolicy {
        let collector = collector
        return try SecurityPolicy(rules: [HostRule(pattern, evaluator)]).reporting(
            to: TrustReporter { collector.add($0) })
    }

    // MARK: Content

    @Test func reportContainsTheWholeRefusal() async throws {
        let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 864_000)
        let policy = try policy("**.localhost", try pinned(PinSet.Expiry(end, then: .refuse)))
        #expect(await policy.evaluate(identity.trust()).refusal?.reason == .pinMismatch)
        let report = try #require(collector.last)
        #expect(collector.reports.count == 1)
        #expect((report.host, report.port, report.pattern) == ("localhost", 443, "**.localhost"))
        #expect(report.isEnforced && report.reason == "pinMismatch" && report.verifyCode == nil)
        #expect(report.certificate == identity.certificate.summary)
        #expect(report.seenPins == [identity.pin, pki.intermediate.publicKeyPin, pki.root.publicKeyPin])
        #expect(report.wantedPins == [wanted] && report.pinsExpire == end)
        #expect(report.servedChain.joined() == identity.certificateChainPEM)
        #expect(report.verifiedChain.joined() == identity.certificateChainPEM + pki.rootPEM)
        #expect(!report.message.contains("\n"))
    }

    @Test func findingsAreReportedAndNotEnforced() async throws {
        let trial = StandardTrustEvaluator.reportOnly(try pinned(), enforcing: .systemTrust(anchors: try pki.anchors))
        let policy = try policy("localhost", trial)
        #expect(await policy.evaluate(identity.trust()).isAccepted)
        #expect(collector.reports.map(\.isEnforced) == [false])
        #expect(collector.last?.reason == "pinMismatch")
    }

    @Test func acceptedChainsAreNotReported() async throws {
        let policy = try policy("localhost", StandardTrustEvaluator.systemTrust(anchors: try pki.anchors))
        #expect(await policy.evaluate(identity.trust()).isAccepted)
        #expect(collector.reports.isEmpty)
    }

    @Test func policyWithAReporterHasANewIdentity() throws {
        let plain = try SecurityPolicy.publicKeyPins([wanted])
        let reporting = plain.reporting(to: TrustReporter { _ in })
        #expect(plain.identity != reporting.identity)
        #expect(reporting.isPinning && reporting.reporter != nil && plain.reporter == nil)
    }

    /// The presented chain completes a refusal without details.
    @Test func everyRefusalContainsTheCertificateAndItsPins() async throws {
        let expired = try pki.identity { $0.validity = .expired }
        let system = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        let cases: [(any TrustEvaluator, TestPKI.Identity)] = [
            (StandardTrustEvaluator.refuse, identity), (system, expired), (try pinned(), identity),
            (StandardTrustEvaluator.hostname, identity),
            (StandardTrustEvaluator.accepting(system) { _, _ in "no" }, identity),
            (try pinned(PinSet.Expiry(.days(-1), then: .refuse)), identity),
        ]
        for (evaluator, server) in cases {
            let decision = await SecurityPolicy.everyHost(evaluator).evaluate(server.trust("localhost"))
            guard let refusal = decision.refusal else { continue }
            #expect(refusal.certificate == server.certificate.summary, "\(refusal)")
            #expect(refusal.seenPins.first == server.pin, "\(refusal)")
            #expect(refusal.host == "localhost" && refusal.port == 443)
        }
        let policy = SecurityPolicy.everyHost(.hostname)
        #expect(await policy.evaluate(identity.trust("b.example")).refusal?.seenPins.count == 2)
        #expect(await policy.evaluate(ServerTrust([])).refusal?.reason == .noCertificate)
    }

    // MARK: Formats

    @Test func reportsRoundTripThroughJSON() async throws {
        let policy = try policy("localhost", try pinned())
        let time = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())
        _ = await policy.evaluate(identity.trust(time: time))
        let report = try #require(collector.last)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(TrustReport.self, from: report.json()) == report)
        #expect(try String(decoding: report.json(), as: UTF8.self).contains("\"\(wanted)\""))
    }

    @Test func reportHasTheFormOfRFC7469() async throws {
        struct Shape: Decodable {
            enum CodingKeys: String, CodingKey {
                case date = "date-time"
                case hostname, port
                case expiry = "effective-expiration-date"
                case subdomains = "include-subdomains"
                case noted = "noted-hostname"
                case served = "served-certificate-chain"
                case validated = "validated-certificate-chain"
                case pins = "known-pins"
            }

            var date: Date, hostname: String, port: Int, expiry: Date?, subdomains: Bool, noted: String
            var served: [String], validated: [String], pins: [String]
        }

        let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 864_000)
        let host = try pki.identity { $0.hosts = ["a.example.com"] }
        _ = await (try policy("**.example.com", try pinned(PinSet.Expiry(end, then: .refuse)))).evaluate(
            host.trust("a.example.com"))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try #require(collector.last)
        let shape = try decoder.decode(Shape.self, from: report.pinValidationJSON())
        #expect((shape.hostname, shape.port, shape.noted) == ("a.example.com", 443, "example.com"))
        #expect(shape.subdomains && shape.expiry == end)
        #expect(shape.served.count == 2 && shape.validated.count == 3)
        #expect(shape.pins == ["pin-sha256=\"\(wanted.description.dropFirst(7))\""])
        _ = await (try policy("a.example.com", try pinned())).evaluate(host.trust("a.example.com"))
        let last = try #require(collector.last)
        let exact = try decoder.decode(Shape.self, from: last.pinValidationJSON())
        #expect(!exact.subdomains && exact.noted == "a.example.com")
        #expect(exact.expiry == nil)
    }

    // MARK: Limits

    @Test func equalReportsAreDeliveredOnceADay() async throws {
        let (clock, collector) = (Clock(), collector)
        let reporter = TrustReporter(limit: .onceADay, now: { clock.now }, observer: { collector.add($0) })
        let policy = try SecurityPolicy(rules: [HostRule("localhost", try pinned())]).reporting(to: reporter)
        for hours in [0.0, 1, 22.9, 0.1, 23.9] {
            clock.advance(hours: hours)
            _ = await policy.evaluate(identity.trust())
        }
        // At the start, and 24 hours later.
        #expect(collector.reports.count == 2)
        _ = await policy.evaluate(try pki.identity().trust())
        #expect(collector.reports.count == 3)
        clock.advance(hours: -100)
        _ = await policy.evaluate(identity.trust())
        #expect(collector.reports.count == 4)
    }

    @Test func rememberedReportsAreBounded() throws {
        let (clock, collector) = (Clock(), collector)
        let reporter = TrustReporter(limit: .onceADay, now: { clock.now }, observer: { collector.add($0) })
        let trust = ServerTrust([])
        func report(_ index: Int) {
            clock.advance(hours: 0.001)
            let refusal = TrustRefusal(.init("test"), "\(index)", trust: trust)
            reporter.report(TrustReport(refusal, trust, isEnforced: true))
        }
        for index in 0...1000 { report(index) }
        #expect(collector.reports.count == 1001)
        report(1000)
        #expect(collector.reports.count == 1001)
        // The oldest entry was evicted for the last one.
        report(0)
        #expect(collector.reports.count == 1002)
    }

    @Test func withoutALimitEveryReportIsDelivered() async throws {
        let policy = try policy("localhost", StandardTrustEvaluator.refuse)
        for _ in 0..<3 { _ = await policy.evaluate(identity.trust()) }
        #expect(collector.reports.count == 3)
    }
}

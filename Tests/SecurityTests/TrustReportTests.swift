import FoundationEssentials
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetSecurity

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

    /// A report is repeated when a day is over, and not before.
    @Test(arguments: [(86_399.0, false), (86_400, true), (0, false), (-1, true)])
    func reportIsRepeatedAfterADay(seconds: Double, isRepeated: Bool) {
        let date = Date(timeIntervalSince1970: 1_000_000)
        var memory = ReportMemory()
        let reports: [(UInt8, Double)] = [(1, 0), (1, seconds), (2, 0)]
        let admitted = reports.map { memory.admit(Data([$0]), at: date.addingTimeInterval($1)) }
        #expect(admitted == [true, isRepeated, true])
    }

    /// Reports of a day ago make room first, then the oldest.
    @Test func oldestReportMakesRoom() {
        let date = Date(timeIntervalSince1970: 1_000_000)
        func admit(_ numbers: some Sequence<Int>, _ memory: inout ReportMemory, at time: (Int) -> Int) -> [Bool] {
            numbers.map { number in
                let key = Data([UInt8(number / 256), UInt8(number % 256)])
                return memory.admit(key, at: date.addingTimeInterval(Double(time(number))))
            }
        }
        func isAll(_ value: Bool, _ results: [Bool]) -> Bool { results.allSatisfy { $0 == value } }
        var full = ReportMemory()
        #expect(isAll(true, admit(0..<1000, &full, at: { $0 })))
        // All are remembered, and one that is known takes no place.
        #expect(isAll(false, admit(0..<1000, &full, at: { _ in 2000 })))
        #expect(admit([1000], &full, at: { _ in 2000 }) == [true])
        #expect(isAll(false, admit(1...1000, &full, at: { _ in 2000 })))
        #expect(admit([0, 2, 1], &full, at: { _ in 2000 }) == [true, false, true])
        // A day after the five hundredth.
        var old = ReportMemory()
        #expect(isAll(true, admit(0..<1000, &old, at: { $0 })))
        #expect(isAll(true, admit(1000..<1500, &old, at: { _ in 86_400 + 499 })))
        #expect(isAll(false, admit(500..<1500, &old, at: { _ in 86_400 + 499 })))
    }

    @Test func servedChainIsBounded() throws {
        let chain = (0..<17).map { Data(count: $0 == 1 ? 65_537 : $0 == 2 ? 65_536 : 1) }
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: chain)
        let report = TrustReport(TrustRefusal(.hostRefused, "", trust: trust), trust, isEnforced: true)
        // The first sixteen without the second.
        #expect(report.servedChain.count == 15)
        #expect(report.servedChain[1].utf8.count > 65_536)
    }

    @Test(arguments: [0, 1, 47, 48, 49, 96, 97])
    func linesOfPEMHave64Characters(count: Int) {
        let data = Data(repeating: 0x5A, count: count)
        let lines = PEM.text(data).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "-----BEGIN CERTIFICATE-----" && lines.suffix(2) == ["-----END CERTIFICATE-----", ""])
        let body = lines.dropFirst().dropLast(2)
        #expect(body.joined() == data.base64EncodedString())
        #expect(body.dropLast().allSatisfy { $0.count == 64 } && (body.last?.count ?? 1) > 0)
    }

    @Test func withoutALimitEveryReportIsDelivered() async throws {
        let policy = try policy("localhost", StandardTrustEvaluator.refuse)
        for _ in 0..<3 { _ = await policy.evaluate(identity.trust()) }
        #expect(collector.reports.count == 3)
    }
}

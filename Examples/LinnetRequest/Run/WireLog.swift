import ExampleSupport
import FoundationEssentials
import Linnet

/// Prints what is sent and received: with `-v` to standard error, and the parts of `--print` to standard output.
final class WireLog: Instrument {
    private let isVerbose: Bool
    private let parts: OutputPlan.Parts
    private let body: HTTPRequestBody?

    init(_ plan: RequestPlan) {
        isVerbose = plan.output.isVerbose
        parts = plan.output.parts
        body = plan.request.body
    }

    func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? {
        let lines = HeadText.lines(request)
        tell(lines, ">")
        if parts.contains(.requestHead) { try? StandardStream.output.write(HeadText.text(lines)) }
        if parts.contains(.requestBody), request.bodyLength != 0 { try? printBody(request.headerFields[.contentType]) }
        return nil
    }

    /// Prints the head of a response to standard error.
    func didReceive(_ head: HTTPResponse, version: String?) {
        tell(HeadText.lines(head, version: version), "<")
    }

    /// Prints the chain of a server and the decision about it to standard error.
    func didEvaluate(_ trust: ServerTrust, _ decision: TrustDecision) {
        let certificates = trust.presentedChain.compactMap { try? X509Certificate(der: $0) }
        var lines = certificates.enumerated().map { index, certificate in
            "certificate \(index): \(certificate.subject), until \(certificate.notAfter.formatted(.iso8601)), "
                + certificate.publicKeyPin.description
        }
        lines.append(decision.refusal.map { "refused: \($0.message)" } ?? "the chain is accepted")
        tell(lines, "*")
    }

    /// Prints the connection to standard error.
    func didConnect(_ metrics: TransportMetrics?) {
        guard let metrics else { return }
        let server = metrics.proxy.map { "proxy \($0)" } ?? metrics.remoteAddress ?? "no connection"
        let tls = [metrics.tlsVersion, metrics.tlsCipher].compactMap { $0 }.joined(separator: " ")
        let pinned = metrics.tlsVersion == nil ? nil : metrics.isPinned ? "pinned" : "not pinned"
        tell([[server, tls.isEmpty ? "no TLS" : tls, pinned].compactMap { $0 }.joined(separator: ", ")], "*")
    }

    private func tell(_ lines: [String], _ mark: String) {
        guard isVerbose else { return }
        try? StandardStream.error.write(lines.map { "\(mark) \(OneLine.text($0))\n" }.joined())
    }

    private func printBody(_ contentType: String?) throws {
        var printer = BodyPrinter(contentType: contentType)
        try printer.write(body?.data ?? Data("(\(body?.length.map { "\($0)" } ?? "some") bytes from files)".utf8))
        try printer.end()
        try StandardStream.output.write("\n\n")
    }
}

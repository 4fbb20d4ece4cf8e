import BenchSupport
import FoundationEssentials
import Linnet

/// Work without a network: encoding a query, evaluating a chain.
@main
struct BenchValues {
    static func main() {
        runBenchmark { arguments in
            switch arguments.operation {
            case "encode-query": try await encode(arguments) { try QueryEncoder().encode(parameters) }
            case "encode-query-urlcomponents": try await encode(arguments) { urlComponents() }
            case "encode-query-loop": try await encode(arguments) { loop() }
            case "evaluate-chain": try await evaluateChain(arguments)
            default: throw Failure("no operation \(arguments.operation)")
            }
        }
    }

    // A typical API query: ten parameters, some with values that need percent-encoding.
    static let entries = [
        ("access_token", "d3b07384d113edec49eaa6238ad5ff00"), ("filter", "name eq 'Größe' and price < 20"),
        ("include", "author,comments.author"), ("lang", "de-DE"), ("limit", "100"), ("offset", "1200"),
        ("order", "created_at desc"), ("q", "swift & linux = fast?"), ("since", "2026-11-21T09:41:00+01:00"),
        ("url", "https://example.com/a/b?c=d&e=f"),
    ]
    static let parameters = RequestParameters(.dictionary(entries.map { ParameterValue.Entry($0.0, .string($0.1)) }))

    static func encode(_ arguments: Arguments, _ body: () throws -> String) async throws -> Outcome {
        let length = try body().utf8.count
        guard length > 200 else { throw Failure("the query has \(length) bytes") }
        return try await measureMicroseconds(arguments) {
            guard try body().utf8.count == length else { throw Failure("the query changed") }
        }
    }

    static func urlComponents() -> String {
        var components = URLComponents()
        components.queryItems = entries.map { URLQueryItem(name: $0.0, value: $0.1) }
        return components.percentEncodedQuery ?? ""
    }

    static func loop() -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        func append(_ text: String) {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "?"):
                    bytes.append(byte)
                default:
                    bytes.append(UInt8(ascii: "%"))
                    bytes.append(digits[Int(byte >> 4)])
                    bytes.append(digits[Int(byte & 15)])
                }
            }
        }
        for (index, entry) in entries.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            append(entry.0)
            bytes.append(UInt8(ascii: "="))
            append(entry.1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func evaluateChain(_ arguments: Arguments) async throws -> Outcome {
        let chain = try X509Certificate.all(contentsOfFile: arguments.required("chain"))
        let pins = try [PublicKeyPin(arguments.required("pin"))]
        let anchors = try X509Certificate.all(contentsOfFile: arguments.required("ca"))
        let trust = ServerTrust(host: "127.0.0.1", port: 443, presentedChain: chain.map(\.derBytes))
        return try await measureMicroseconds(arguments) {
            // Verified chains are cached with the anchors, so new anchors are created for each evaluation.
            let policy = try SecurityPolicy.publicKeyPins(pins, anchors: .certificates(anchors))
            guard await policy.evaluate(trust).isAccepted else { throw Failure("the chain was refused") }
        }
    }
}

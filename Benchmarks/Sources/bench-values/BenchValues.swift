import BenchSupport
import FoundationEssentials
import Linnet

/// Work without a network: encoding a query, decoding JSON, evaluating a chain.
@main
struct BenchValues {
    static func main() {
        runBenchmark { arguments in
            switch arguments.operation {
            case "encode-query": try await encode(arguments) { try QueryEncoder().encode(parameters) }
            case "encode-query-urlcomponents": try await encode(arguments) { urlComponents() }
            case "encode-query-loop": try await encode(arguments) { loop() }
            case "decode-json-10m":
                try await decode(arguments, length: 10_000_000) { try linnet.decode([Row].self, from: $0) }
            case "decode-json-10m-foundation":
                try await decode(arguments, length: 10_000_000) { try foundation.decode([Row].self, from: $0) }
            case "decode-json-2k": try await decode(arguments, length: 2000) { try linnet.decode([Row].self, from: $0) }
            case "decode-json-2k-foundation":
                try await decode(arguments, length: 2000) { try foundation.decode([Row].self, from: $0) }
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

    // A row of a typical response: numbers, texts, a nested object and an array.
    struct Row: Decodable {
        struct Author: Decodable { var id: Int, name: String }

        var id: Int, title: String, body: String, score: Double, isPublic: Bool, tags: [String], author: Author
        var parent: Int?
    }

    static let linnet = JSONBodyDecoder()
    static let foundation = JSONDecoder()

    /// Decodes an array of rows with about as many bytes.
    static func decode(_ arguments: Arguments, length: Int, _ body: (Data) throws -> [Row]) async throws -> Outcome {
        var text = "["
        var count = 0
        while text.utf8.count < length - 200 {
            text += """
                \(count == 0 ? "" : ","){"id":\(count),"title":"The linnet number \(count)","body":"A small bird \\u2013 of the finch \
                family.","score":\(Double(count) * 1.37),"isPublic":\(count % 3 == 0),"tags":["bird","t\(count % 10)"],"author":\
                {"id":\(count % 100),"name":"Größe \(count % 50)"},"parent":\(count % 2 == 0 ? "null" : "\(count / 2)")}
                """
            count += 1
        }
        let data = Data((text + "]").utf8)
        // The long text takes tenths of a second.
        return try await measureMicroseconds(arguments, runs: length > 1_000_000 ? 1 : 20) {
            guard try body(data).count == count else { throw Failure("rows are missing") }
        }
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

import CommandSupport
import FoundationEssentials
import LinnetMultipart
import Testing

/// Twice the input takes at most two and a half times as long.
@Suite(.timeLimit(.minutes(5))) struct MultipartScalingTests {
    @Test(
        arguments: [
            ("parts", "--B|A: b||x|", 500), ("empty parts", "--B|||", 500), ("carriage returns", "\r", 50_000),
            ("delimiters that are none", "|--Bx", 5000), ("padding", "|--B  x", 5000), ("line feeds", "\n", 50_000),
            ("delimiters with LF", "\n--B x", 5000), ("fields", "A: b|", 2000), ("folded lines", "A: b| c| d|", 1000),
            ("a long field", "b", 200_000),
        ])
    func bodiesAreReadInLinearTime(name: String, text: String, count: Int) {
        var limits = MultipartParser.Limits()
        (limits.maximumPartCount, limits.maximumHeaderBytes) = (.max, .max)
        limits.maximumHeaderFieldCount = 10_000
        let starts =
            switch name {
            case "fields", "folded lines": ["--B|"]
            case "a long field": ["--B|A: "]
            default: ["", "--B|||"]
            }
        for start in starts {
            let make = { (count: Int) in lines(start + String(repeating: text, count: count)) }
            #expect(growth(from: count, make) { _ = try? parse([$0], limits: limits) } <= 2.5, "\(name) in one piece")
            let pieces = { (count: Int) -> [Data] in
                let body = make(count)
                return stride(from: 0, to: body.count, by: 7).map { body[$0..<min($0 + 7, body.count)] }
            }
            #expect(growth(from: count, pieces) { _ = try? parse($0, limits: limits) } <= 2.5, "\(name) in pieces")
        }
    }

    @Test(arguments: [";", "; a=b", "; name=\"\\\"", "\\\";", "\\\";a", "\\\"; a=b", " ", "\"", "'%41"])
    func dispositionsAreReadInLinearTime(text: String) {
        var limits = MultipartParser.Limits()
        limits.maximumHeaderBytes = .max
        for start in ["", "; name=\"", "; filename*=UTF-8''"] {
            let make = { (count: Int) in
                lines("--B|Content-Disposition: form-data\(start)\(String(repeating: text, count: count))||x|--B--")
            }
            #expect(growth(from: 3000, make) { _ = try? parse([$0], limits: limits) } <= 2.5, "\(start) \(text)")
        }
    }
}

import CommandSupport
import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if os(Linux)
/// 4 GiB with LINNET_TEST_LARGE set, otherwise a sixteenth of it, in sparse files.
private let fileSize = ProcessInfo.processInfo.environment["LINNET_TEST_LARGE"] == nil ? 64 << 20 : 1 << 30

@Suite(.timeLimit(.minutes(5)), .enabled(if: !isSanitized, "a sanitizer's own memory hides the form's"))
struct MultipartMemoryTests {
    @Test func largeFormsTakeConstantMemory() async throws {
        var files: [TemporaryFile] = []
        var form = MultipartForm()
        for index in 0..<4 {
            let file = try TemporaryFile(Data(), name: "\(index).bin")
            try #require(truncate(file.url.path, fileSize) == 0)
            try form.append(fileAt: file.url, name: "file\(index)")
            files.append(file)
        }
        let length = try #require(form.contentLength)
        try #require(length > 4 * Int64(fileSize))
        // Resets the peak (proc_pid_clear_refs(5)).
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try memory("VmHWM")
        var reader = try form.makeBody().makeReader()
        var total: Int64 = 0
        while let chunk = try await reader.next() { total += Int64(chunk.count) }
        #expect(total == length)
        let grown = try memory("VmHWM") - before
        print("MultipartMemoryTests: \(total >> 20) MiB, the peak grew by \(grown >> 10) KiB")
        #expect(grown < 32 << 20)
    }

    @Test func readingALargePartTakesConstantMemory() throws {
        let piece = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        var parser = try MultipartParser(boundary: "B")
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try memory("VmHWM")
        var total = 0
        parser.push(Data("--B\r\n\r\n".utf8))
        for _ in 0..<128 {
            parser.push(piece)
            while let event = try parser.next() {
                if case .data(let data) = event { total += data.count }
            }
        }
        #expect(total == 128 << 20)
        #expect(try memory("VmHWM") - before < 32 << 20)
    }

    private func memory(_ field: String) throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
        return try #require(Int(line.filter(\.isNumber))) * 1024
    }
}
#endif

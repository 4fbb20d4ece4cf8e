import CommandSupport
import FoundationEssentials
import LinnetImageSerialization
import Testing

/// Each file has a separate process, so that the peak of memory and the processor time belong to it.
@Suite(.timeLimit(.minutes(10)))
struct ImageBombTests {
    @Test(arguments: ImageBomb.all.map(\.name)) func aSmallFileTakesLittleMemoryAndTime(_ name: String) async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [name] in
            let bomb = try #require(ImageBomb.named(name))
            let data = try bomb.make()
            try #require(data.count < 100_000)
            let before = try processMemory("VmRSS")
            let start = processorTime()
            let outcome = Result { () throws(ImageError) in try ImageDecoder().decode(data) }
            let time = processorTime() - start
            let growth = max(0, try processMemory("VmHWM") - before) >> 20
            let size = (try? outcome.get()).map { "\($0.width) x \($0.height)" } ?? "\(outcome)"
            print("bomb \(name): \(data.count) bytes, \(growth) MB, \(time) s, \(size)")
            let isDecoded = (try? outcome.get()) != nil
            #expect(isDecoded == bomb.isDecoded)
            // A sanitizer itself takes memory and time.
            #expect(isSanitized || time < 5)
            #expect(isSanitized || growth <= bomb.megabytes)
        }
        if let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
}

import CommandSupport
import FoundationEssentials
import Glibc
import LinnetSecurity
import LinnetTesting
import Testing

/// Searches the process's memory for a private key.
///
/// Searches run one at a time: each copies memory into its own, where another would find the key.
@Suite(
    "Private keys in memory", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: !Memory.isSanitized, "memory is the sanitizer's"))
struct PrivateKeyMemoryTests {
    /// The halves of the 32 bytes of an Ed25519 key, so that a partly overwritten copy is found. The test stores the
    /// key only in a masked form.
    private struct Needle {
        let disguised: [UInt8]

        func isInMemory() throws -> Bool { try Memory.contains(disguised) }
    }

    /// Creates the files of an identity in another process, so that this one has never seen the key.
    private func make(_ scratch: Scratch, _ encrypted: Bool) throws -> [Needle] {
        let script = """
            cd '\(scratch.path)'
            openssl req -x509 -newkey ed25519 -nodes -keyout key.pem -out cert.pem -subj /CN=client -days 10 2>/dev/null
            openssl pkey -in key.pem -outform der | tail -c 32 >raw
            openssl pkcs12 -export -in cert.pem -inkey key.pem -passout pass:horse -out bundle.p12
            openssl pkcs8 -topk8 -in key.pem -passout pass:horse -out encrypted.pem
            python3 -c 'import sys; sys.stdout.buffer.write(bytes(b ^ 0x5A for b in open("raw","rb").read()))'
            rm raw
            """
        let disguised = [UInt8](try Command.run("sh", "-c", script).output)
        try #require(disguised.count == 32)
        return [Needle(disguised: Array(disguised.prefix(16))), Needle(disguised: Array(disguised.suffix(16)))]
    }

    @Test(arguments: ["key.pem", "encrypted.pem", "bundle.p12"])
    func keyIsErasedWithItsIdentity(file: String) async throws {
        try await Scratch.with { scratch in
            let needles = try make(scratch, false)
            for needle in needles { #expect(try !needle.isInMemory()) }
            try {
                let identity =
                    file.hasSuffix("p12")
                    ? try ClientIdentity.pkcs12(file: scratch.file(file), passphrase: "horse")
                    : try ClientIdentity.files(
                        certificates: scratch.file("cert.pem"), privateKey: scratch.file(file), passphrase: "horse")
                // The search works.
                for needle in needles { #expect(try needle.isInMemory()) }
                withExtendedLifetime(identity) {}
            }()
            for needle in needles { #expect(try !needle.isInMemory()) }
        }
    }
}

private enum Memory {
    static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// Whether bytes are in writable memory, except where this function has put them.
    static func contains(_ disguised: [UInt8]) throws -> Bool {
        let page = 4096
        let span = 1 << 20
        guard let own = mmap(nil, span + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            own != MAP_FAILED
        else { throw POSIXFailure() }
        defer { munmap(own, span + page) }
        let needle = own + span
        for (offset, byte) in disguised.enumerated() {
            needle.storeBytes(of: byte ^ 0x5A, toByteOffset: offset, as: UInt8.self)
        }
        defer { memset(needle, 0, disguised.count) }
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw POSIXFailure() }
        defer { close(memory) }
        let find = try #require(dlsym(nil, "memmem"))
        let memmem = unsafeBitCast(find, to: Find.self)
        let start = UInt(bitPattern: own)
        let ownRange = start..<start + UInt(span + page)
        for range in try writableRanges(except: ownRange) {
            var position = range.lowerBound
            while position < range.upperBound {
                let count = min(UInt(span), range.upperBound - position)
                let read = pread(memory, own, Int(count), Int(bitPattern: position))
                if read > 0, memmem(own, read, needle, disguised.count) != nil { return true }
                // Another thread may have unmapped a page. What follows it is read all the same.
                position += UInt(max(read, page))
                // Pieces overlap, since the bytes may cross their boundary.
                if read > page, position < range.upperBound { position -= UInt(page) }
            }
        }
        return false
    }

    /// Not declared in glibc's header.
    private typealias Find =
        @convention(c) (
            UnsafeRawPointer, Int, UnsafeRawPointer, Int
        ) -> UnsafeMutableRawPointer?

    private struct POSIXFailure: Error {}

    /// The kernel joins neighbouring mappings to one, so `own` may be in the middle of a range.
    private static func writableRanges(except own: Range<UInt>) throws -> [Range<UInt>] {
        let text = try String(contentsOf: URL(filePath: "/proc/self/maps"), encoding: .utf8)
        return text.split(separator: "\n").flatMap { line -> [Range<UInt>] in
            let words = line.split(separator: " ")
            guard words.count > 1, words[1].hasPrefix("rw") else { return [] }
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2 else { return [] }
            let before = ends[0]..<max(ends[0], min(ends[1], own.lowerBound))
            let after = min(ends[1], max(ends[0], own.upperBound))..<ends[1]
            return [before, after].filter { !$0.isEmpty }
        }
    }
}

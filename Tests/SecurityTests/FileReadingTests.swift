import CommandSupport
import FoundationEssentials
import Glibc
import LinnetSecurity
import Testing

/// Paths of items that are not files, and of files that are too large. Reading a FIFO or a device would not end.
@Suite("Reading files of certificates and keys", .timeLimit(.minutes(1)))
struct FileReadingTests {
    /// The functions that read a file.
    enum Reader: CaseIterable {
        case certificates, anchors, lists, chain, key, both, pkcs12

        func read(_ path: String, certificates: String) throws(SecurityError) {
            switch self {
            case .certificates: _ = try X509Certificate.all(contentsOfFile: path)
            case .anchors: _ = try TrustAnchors.file(path)
            case .lists: _ = try RevocationList.all(contentsOfFile: path)
            case .chain: _ = try ClientIdentity.files(certificates: path, privateKey: path)
            case .key: _ = try ClientIdentity.files(certificates: certificates, privateKey: path)
            case .both: _ = try ClientIdentity.files(certificates: path)
            case .pkcs12: _ = try ClientIdentity.pkcs12(file: path)
            }
        }
    }

    private func refusal(_ path: String, _ reader: Reader, _ scratch: Scratch) throws -> SecurityError? {
        let certificates = try scratch.write("certificates.pem", "none")
        do throws(SecurityError) {
            try reader.read(path, certificates: certificates)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Reader.allCases)
    func pathsOtherThanFilesAreNotRead(reader: Reader) async throws {
        try await Scratch.with { scratch in
            let fifo = scratch.file("fifo")
            try #require(mkfifo(fifo, 0o600) == 0)
            let link = scratch.file("link")
            try #require(symlink(fifo, link) == 0)
            for path in [fifo, link, "/dev/zero", scratch.path, scratch.file("missing")] {
                let error = try refusal(path, reader, scratch)
                #expect(error?.code == .cannotReadFile)
                #expect(error?.message.contains(path) == true)
            }
        }
    }

    @Test(arguments: Reader.allCases)
    func filesThatAreTooLargeAreNotRead(reader: Reader) async throws {
        try await Scratch.with { scratch in
            let isSecret = [.key, .both, .pkcs12].contains(reader)
            let path = try scratch.write("large", "")
            // Without content on the disk.
            try #require(truncate(path, (isSecret ? 1 << 20 : 64 << 20) + 1) == 0)
            let error = try refusal(path, reader, scratch)
            #expect(error?.code == .cannotReadFile)
            #expect(error?.message.contains("bytes") == true)
        }
    }
}

// Testable: Security
import COpenSSL
import FoundationEssentials

@testable import LinnetSecurity

/// Reads the input behind its first byte as a PKCS#12 file (0) or as a private key (1), without a passphrase, with the
/// right one of the corpus and with a wrong one.
///
/// Each ends within the time limit, in a documented error or in a key. A key that was read is the same key after
/// OpenSSL has encoded it, is read with any passphrase if it was read without one, and belongs to the first certificate
/// of its identity. Everything that OpenSSL's own functions read is read.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzIdentity(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let bytes = Data(UnsafeBufferPointer(start: data + 1, count: count - 1))
    if data[0] & 1 == 0 { readFile(bytes) } else { readKey(bytes) }
    return 0
}

private let passphrases: [String?] = [nil, "horse", "battery"]

private let keyErrors: Set<SecurityError.Code> = [
    .invalidKey, .passphraseNeeded, .wrongPassphrase, .unsupportedEncryption,
]
private let fileErrors: Set<SecurityError.Code> = [
    .invalidIdentity, .passphraseNeeded, .wrongPassphrase, .unsupportedEncryption,
]

private func require(_ isTrue: Bool, _ what: @autoclosure () -> String) {
    guard isTrue else { fatalError(what()) }
}

/// The limit on iterations is ten seconds of work, more than an input may take.
private func isSlow(_ iterations: UInt64) -> Bool { (20_000...KeyDerivation.mostIterations).contains(iterations) }

private func readKey(_ bytes: Data) {
    guard !isSlow(iterations(ofKey: bytes)) else { return }
    var keys: [PrivateKeyHandle?] = []
    for passphrase in passphrases {
        do throws(SecurityError) {
            let key = try PrivateKeyReader.read(SecretBytes(bytes), passphrase: passphrase)
            require(isSameEncoded(key), "A key changes when it is encoded.")
            keys.append(key)
        } catch {
            require(keyErrors.contains(error.code), "\(error)")
            require(passphrase == nil || error.code != .passphraseNeeded, "\(error)")
            keys.append(nil)
        }
    }
    // A key that is not encrypted does not depend on the passphrase.
    if let key = keys[0] {
        for other in keys.dropFirst() {
            require(other.map { EVP_PKEY_eq($0.pointer, key.pointer) == 1 } ?? false, "A passphrase changes a key.")
        }
    } else if !SecretBytes(bytes).isPEM, plainKey(bytes) {
        fatalError("OpenSSL reads a key that is refused.")
    }
}

/// Whether OpenSSL's own functions read the bytes as PKCS#8 without encryption.
private func plainKey(_ bytes: Data) -> Bool {
    bytes.withUnsafeBytes { buffer in
        let buffer = buffer.bindMemory(to: UInt8.self)
        var position = buffer.baseAddress
        guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &position, buffer.count) else { return false }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let key = EVP_PKCS82PKEY(info) else { return false }
        EVP_PKEY_free(key)
        return true
    }
}

private func isSameEncoded(_ key: PrivateKeyHandle) -> Bool {
    guard let info = EVP_PKEY2PKCS8(key.pointer) else {
        // OpenSSL decodes some keys that it cannot encode, such as those without a public part.
        return true
    }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    let encoded = OpenSSLBytes.written { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    guard let again = try? PrivateKeyReader.read(SecretBytes(encoded), passphrase: nil) else { return false }
    return EVP_PKEY_eq(again.pointer, key.pointer) == 1
}

private func readFile(_ bytes: Data) {
    let iterations = iterations(ofFile: bytes)
    guard !isSlow(iterations) else { return }
    for passphrase in passphrases {
        do throws(SecurityError) {
            let contents = try PKCS12Reader.read(SecretBytes(bytes), passphrase: passphrase)
            require(iterations <= KeyDerivation.mostIterations, "A file with too much work is read.")
            check(contents)
        } catch {
            require(fileErrors.contains(error.code), "\(error)")
        }
    }
}

private func check(_ contents: PKCS12Reader.Contents) {
    for time in contents.certificates.prefix(4).flatMap({ [$0.notBefore, $0.notAfter, .distantPast] }) {
        do throws(SecurityError) {
            let handle = try ClientIdentityHandle(key: contents.key, certificates: contents.certificates, at: time)
            let chain = handle.certificates
            require(contents.key.belongs(to: chain[0].handle), "The key is another certificate's.")
            require(chain[0].notBefore <= time && time <= chain[0].notAfter, "The certificate is not valid.")
            for (lower, upper) in zip(chain, chain.dropFirst()) {
                require(upper.handle.issued(lower.handle), "An issuer has not issued.")
            }
            require(Set(chain.map(\.derBytes)).count == chain.count, "A certificate comes twice.")
        } catch {
            let codes: Set<SecurityError.Code> = [.keyMismatch, .identityExpired, .identityNotYetValid]
            require(codes.contains(error.code), "\(error)")
        }
    }
}

private func iterations(ofKey bytes: Data) -> UInt64 {
    let secret = SecretBytes(bytes)
    let key =
        secret.isPEM
        ? secret.withBIO { PEM_read_bio_PKCS8($0, nil, nil, nil) }
        : bytes.withUnsafeBytes { buffer -> OpaquePointer? in
            let buffer = buffer.bindMemory(to: UInt8.self)
            var position = buffer.baseAddress
            return d2i_X509_SIG(nil, &position, buffer.count)
        }
    guard let key else { return 0 }
    defer { X509_SIG_free(key) }
    return KeyDerivation.iterations(ofKey: key)
}

private func iterations(ofFile bytes: Data) -> UInt64 {
    bytes.withUnsafeBytes { buffer in
        let buffer = buffer.bindMemory(to: UInt8.self)
        var position = buffer.baseAddress
        guard let file = d2i_PKCS12(nil, &position, buffer.count) else { return 0 }
        defer { PKCS12_free(file) }
        return KeyDerivation.iterations(ofFile: file)
    }
}

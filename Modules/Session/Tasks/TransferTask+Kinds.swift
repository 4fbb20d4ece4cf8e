public import FoundationEssentials

/// A handle on a request whose response is read into memory and decoded as a value.
public typealias DataTask<Value: Sendable> = TransferTask<Value>

/// A handle on a request with a body: bytes, a file, a stream or a multipart form.
public typealias UploadTask<Value: Sendable> = TransferTask<Value>

/// A handle on a request whose response is written to a file; the response's value is the file's URL.
public typealias DownloadTask = TransferTask<URL>

/// A handle on a request whose response is read as it arrives, from ``TransferTask/response``.
public typealias StreamTask = TransferTask<Void>

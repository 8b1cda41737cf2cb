//! Bodies of error responses, as providers and gateways send them.

use serde_json::json;

use super::{ContextSize, Format, ProviderError, ProviderErrorKind, Reply, ReplyEnd, decoded};

#[test]
fn a_context_limit_is_recognized_in_every_form_of_body() {
    let limit = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.";
    let nested = json!({"error": {"message": limit, "code": "context_length_exceeded"}}).to_string();
    let stated = ContextSize { limit: Some(4096), requested: Some(5000) };
    let unstated = ContextSize::default();
    let cases = [
        (json!({"error": {"message": limit}}), stated),
        (json!({"object": "error", "message": limit, "type": "BadRequestError", "code": 400}), stated),
        (json!({"message": limit}), stated),
        (json!({"detail": limit}), stated),
        (json!({"error": limit, "error_type": "validation"}), stated),
        (json!([{"error": {"message": limit}}]), stated),
        (
            json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": nested}}}),
            stated,
        ),
        (
            json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": limit}}}),
            stated,
        ),
        (
            json!({"base_resp": {"status_code": 2013, "status_msg": "invalid params, context window exceeds limit"}}),
            unstated,
        ),
        (json!({"error": {"message": "No.", "innererror": {"code": "context_length_exceeded"}}}), unstated),
        (json!({"code": "context_length_exceeded", "message": "No."}), unstated),
        (
            json!({"error": {"code": 400, "message": "No.", "type": "exceed_context_size_error",
                "n_prompt_tokens": 5000, "n_ctx": 4096}}),
            stated,
        ),
    ];
    for (body, size) in cases {
        let error = ProviderError::from_status(400, body.to_string().as_bytes(), None);
        assert_eq!((error.kind, error.size), (ProviderErrorKind::ContextLimit, size), "{body}");
        assert!(!error.message.contains('{'), "{body}: {error}");
    }
}

#[test]
fn a_gateway_error_contains_the_providers_message() {
    let raw =
        json!({"error": {"message": "Model 'x' supports at most 1 image.", "type": "invalid_request_error"}});
    for raw in [raw.clone(), raw.to_string().into(), json!("Model 'x' supports at most 1 image.")] {
        let body =
            json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}});
        let error = ProviderError::from_status(400, body.to_string().as_bytes(), None);
        assert_eq!(error.message, "Provider returned error: Model 'x' supports at most 1 image.");
    }
}

#[test]
fn an_error_in_a_successful_response_is_an_error() {
    let body = json!({"object": "error", "message": "The input (9 tokens) is longer than the model's context length (8 tokens).", "code": 400});
    let minimax = json!({"choices": null, "base_resp": {"status_code": 2013, "status_msg": "context window exceeds limit"}});
    for body in [body, minimax] {
        let error = Reply::read(Format::OpenAi.dialect().unwrap(), body.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::ContextLimit, "{body}");
        let (_, reply) = decoded(Format::OpenAi, [format!("data: {body}\n\n").as_bytes()]);
        let ReplyEnd::Failed(error) = reply.end else { panic!("{body}: {:?}", reply.end) };
        assert_eq!(error.kind, ProviderErrorKind::ContextLimit, "{body}");
    }
    let fine = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "base_resp": {"status_code": 0}});
    assert_eq!(
        Reply::read(Format::OpenAi.dialect().unwrap(), fine.to_string().as_bytes()).unwrap().text(),
        "Hi"
    );
}

#[test]
fn a_body_that_is_not_json_is_described_and_not_quoted() {
    let cases: [(&[u8], &str); 7] = [
        (b"<html>\r\n<head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>", "a web page: 502 Bad Gateway"),
        (b"<!DOCTYPE html><html><style>b { }</style><body>Log <b>in</b></body></html>", "a web page: Log in"),
        (b"\x1f\x8b\x08\x00\x00\x00", "a compressed body"),
        (b"\xff\xfe\x00\x01", "4 bytes that are not text"),
        (b"\x00\x01", "2 bytes that are not text"),
        (b"upstream connect error\nor disconnect", "upstream connect error or disconnect"),
        (b"ab\xc3", "ab"),
    ];
    for (body, message) in cases {
        assert_eq!(ProviderError::from_status(502, body, None).message, message);
        assert_eq!(Reply::read(Format::OpenAi.dialect().unwrap(), body).unwrap_err().message, message);
    }
}

#[test]
fn missing_credit_is_distinguished_from_a_rate_limit() {
    use ProviderErrorKind::{Quota, RateLimit};
    for (status, body, kind) in [
        (
            429,
            json!({"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "No."}}),
            Quota,
        ),
        (429, json!({"error": {"type": "exceeded_current_quota_error", "message": "No."}}), Quota),
        (402, json!({"error": {"message": "Insufficient Balance", "type": "unknown_error"}}), Quota),
        (429, json!({"error": {"code": "rate_limit_exceeded", "message": "No."}}), RateLimit),
    ] {
        let error = ProviderError::from_status(status, body.to_string().as_bytes(), None);
        assert_eq!(error.kind, kind, "{status} {body}");
    }
}

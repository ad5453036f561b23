/* A model as JSON. */
#include "model_json.h"
#include <inttypes.h>
#include <math.h>
#include "tacit/linalg.h"

void live_model_write(const struct live_model *model, struct live_buffer *out)
{
    size_t const stride = TACIT_LINALG_STRIDE(model->dimension);
    live_buffer_format(out,
                       "{\"number\": %" PRIu64 ", \"observations\": %" PRIu64
                       ", \"radius\": %.17g, \"coefficients\": [",
                       model->number, model->observation_count, model->radius);
    for (uint32_t i = 0; i < model->dimension; i++) {
        double const value = model->coefficients[i];
        double const half = model->radius * sqrt(model->inverse[i * stride + i]);
        live_buffer_add(out, i == 0 ? "{\"name\": " : ", {\"name\": ");
        live_buffer_add_quoted(out, model->names[i]);
        live_buffer_format(out, ", \"value\": %.17g, \"lower\": %.17g, \"upper\": %.17g}", value,
                           value - half, value + half);
    }
    live_buffer_add(out, "], \"inverse\": [");
    for (uint32_t i = 0; i < model->dimension; i++)
        for (uint32_t j = 0; j < model->dimension; j++)
            live_buffer_format(out, "%s%.17g%s",
                               j > 0   ? ", "
                               : i > 0 ? ", ["
                                       : "[",
                               model->inverse[i * stride + j],
                               j + 1 == model->dimension ? "]" : "");
    live_buffer_add(out, "]}");
}
